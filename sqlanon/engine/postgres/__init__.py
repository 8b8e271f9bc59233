"""PostgreSQL behind the protocol of a database elsewhere: `remote.Remote`."""
