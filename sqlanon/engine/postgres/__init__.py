"""PostgreSQL behind the protocol of a database elsewhere: `routed.Remote`."""
