// What the theme leaves out for readers with a keyboard or a screen reader.
const scrolling = [
  ".md-typeset math[display=block]", ".md-typeset__scrollwrap", ".lc-table", ".lc-drawing", ".lc-output",
].join();

function complete() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelector(".md-search__options")?.setAttribute("aria-label", "Search options"); // a page may have a part “Search”
  // The theme puts each copy button in a navigation landmark of its own, without a name.
  document.querySelectorAll("nav.md-code__nav").forEach((nav) => nav.setAttribute("role", "none"));
  document.querySelectorAll(scrolling).forEach((box) => {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    box.toggleAttribute("data-scrolls", scrolls); // the style sheet then says so: phones show no scroll bar
    if (scrolls) box.setAttribute("tabindex", "0"); // arrow keys scroll what has the focus
    else box.removeAttribute("tabindex");
  });
}

new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", complete);
addEventListener("load", complete);

// A link into a folded section opens it, and nothing is folded on paper.
function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", unfold);
addEventListener("load", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => (box.open = true)));
