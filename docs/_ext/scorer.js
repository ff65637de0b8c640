// How the search orders what it finds: pages that teach come before attributes and proofs.
var Scorer = {
  score: ([page, title, anchor, words, score]) =>
    score + (/^(tutorials|how-to)\//.test(page) ? 20 : /^proofs\//.test(page) ? -4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
