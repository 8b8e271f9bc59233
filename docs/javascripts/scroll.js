// Wide tables are scrolled by the keyboard, too.
document$.subscribe(() => {
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((each) => {
    each.tabIndex = 0
  })
})
