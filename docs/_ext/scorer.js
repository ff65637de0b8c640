// How the search orders what it finds: a page or a name that is called like the query comes first,
// then pages that teach; attributes and proofs come last.
const LETTERS = { epsilon: "ε", delta: "δ", rho: "ρ", sigma: "σ", mu: "μ" };

const closeness = (title) => {
  const query = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
  const name = title.toLowerCase().replace(/^inbounds\.((frames|plots|queries|sklearn)\.)?/, "");
  if (query && name === query) return 60;
  return title.includes(LETTERS[query] || "\0") ? 30 : 0;
};

var Scorer = {
  score: (result) => {
    const [page, title, anchor, words, score] = result;
    // A synonym that leads to a name shows that name and not only its page.
    if (anchor.startsWith("#inbounds.")) result[1] = anchor.slice(1);
    const teaches = /^(tutorials|how-to)\//.test(page) ? 20 : /^proofs\//.test(page) ? -4 : 0;
    return score + closeness(title) + teaches;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
