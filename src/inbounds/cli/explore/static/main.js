// The page as a whole: builds its parts, asks the server, and hands each part what it shows.

import { fragment, keepToken, Newest, takeToken } from "./api.js";
import { buildBudget, loadLedger } from "./budget.js";
import { drawComparison } from "./comparison.js";
import { blameField, buildControls, forgive } from "./controls.js";
import { buildDensity, drawDensity, follow } from "./density.js";
import { byId, speak } from "./dom.js";
import { buildError } from "./error.js";
import { buildFile } from "./file.js";
import { buildGoal } from "./goal.js";
import { buildGuarantee, drawGuarantee } from "./guarantee.js";
import { buildMap, loadMap } from "./map.js";
import { counted, range, readable } from "./numbers.js";
import { buildPeople, drawPeople } from "./people.js";
import { doubted, listen, listenToDoubts, restore, state, values } from "./state.js";
import { buildTake, showComparedSnippets, showLink, showSnippets } from "./take.js";

const REST = 200; // milliseconds without a change after which the hand rests
const CALM = 150; // milliseconds before "computing" is shown: faster answers need no word
const LATE = 300; // milliseconds after which what is shown no longer looks like the answer
const results = () => byId("results");

const view = new Newest("/api/view", {
  done: (shown, { question, change }) => {
    drawDensity(shown);
    drawGuarantee(shown, question);
    drawPeople(shown, question);
    showSnippets(shown);
    settle("shown", change);
    works();
  },
  failed: (problem, { change }) => {
    settle("shown", change);
    fails(problem);
  },
  busy: busily("computing"),
});

const comparison = new Newest("/api/compare", {
  done: (rows, { key }) => {
    drawComparison(rows);
    showComparedSnippets();
    settle("compared", wanted === key ? state.changes : -1);
  },
  failed: (problem, { key }) => {
    settle("compared", wanted === key ? state.changes : -1);
    // What is wrong with the question was said by the view; what is wrong with the server was not.
    if (problem.status <= 0 || problem.status === 401) fails(problem);
  },
  busy: busily("compare-computing"),
});

const reached = { asked: -1, shown: -1, compared: -1 };
const late = { shown: lateness(), compared: lateness() };
/** Keep account of what is shown; whoever waits for the page can see when it is settled. */
function settle(what, change) {
  reached[what] = change;
  const isOld = reached.shown !== reached.asked;
  const isOldTable = reached.compared < reached.asked;
  results().dataset.state = isOld ? "computing" : isOldTable ? "comparing" : "settled";
  late.shown.watch(isOld, what === "shown");
  late.compared.watch(isOldTable, what === "compared");
}

/** Whether an answer takes so long that what is shown must not look as if it were the answer. */
function lateness() {
  let timer = null;
  const account = { isLate: false };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
  };
  /** `isOld`: the newest question has no answer; `isNews`: an answer has just come. */
  account.watch = (isOld, isNews) => {
    if (!isOld || isNews) stop();
    const before = account.isLate;
    account.isLate &&= isOld;
    if (isOld && !account.isLate && timer === null) {
      timer = setTimeout(() => {
        account.isLate = true;
        showAge();
      }, LATE);
    }
    if (before !== account.isLate) showAge();
  };
  return account;
}

/** Show a calm word while something takes longer than a moment; its place is always kept. */
function busily(id) {
  let timer;
  return (busy) => {
    clearTimeout(timer);
    if (busy) timer = setTimeout(() => byId(id).classList.add("on"), CALM);
    else byId(id).classList.remove("on");
  };
}

let worked = false;
let failed = false;
function works() {
  worked = true;
  failed = false;
  byId("banner").hidden = true;
  byId("connect").hidden = true;
  forgive();
  showAge();
}

function fails(problem) {
  const banner = byId("banner");
  // Beside its field a message needs no banner, which would cover the field in a low window.
  const atField = problem.status === 400 && blameField(problem.message);
  const rest = worked ? " The results are for the last question that worked." : "";
  banner.textContent = atField ? "" : problem.message + rest;
  banner.hidden = atField;
  byId("connect").hidden = problem.status !== 401;
  failed = true;
  showAge();
  if (!atField) speak(problem.message);
}

let numbers = ""; // of the newest view, for the head of the page
follow((view, index) => {
  const { error, people, coordinates } = view;
  numbers = people
    ? `RMSE of the mean of ${counted(people.count)}: ${readable(people.mean_rmse)}`
    : `RMSE ${readable(error.average_rmse)} on average · 95 % in ${range(coordinates[index].interval)}`;
  showAge();
});

/** Grey out results that answer another question than the one in the boxes, and say so. */
function showAge() {
  const old = failed || doubted() !== "";
  const waits = !old && late.shown.isLate;
  results().classList.toggle("stale", old || waits);
  results().setAttribute("aria-busy", String(waits));
  byId("compare").classList.toggle("stale", old || late.compared.isLate);
  byId("glance").classList.toggle("late", waits); // one "computing" is enough
  const text = waits ? "computing…" : old && worked ? "results of an earlier question" : numbers;
  if (byId("glance-numbers").textContent !== text) byId("glance-numbers").textContent = text;
}

function showDoubt() {
  showAge();
  const wrong = doubted();
  if (wrong) speak(`${wrong} The results are those of an earlier question.`);
}

let resting;
let wanted = ""; // what the comparison is for: it depends on neither the value nor the mechanism
let sent = "";
function refresh(question) {
  const change = state.changes;
  settle("asked", change);
  view.ask({ ...question, value: values(question) }, { question, change });
  showLink();
  wanted = JSON.stringify({ ...question, value: null, mechanism: "best" });
  clearTimeout(resting);
  if (wanted === sent && !comparison.underway) settle("compared", change);
  else if (wanted !== sent) resting = setTimeout(compareNow, REST);
}

function compareNow() {
  sent = wanted;
  comparison.ask(JSON.parse(wanted), { key: wanted });
}

function connect(event) {
  event.preventDefault();
  const written = byId("address").value.trim();
  const token = fragment(written).get("token");
  if (token === undefined) {
    byId("banner").textContent =
      "This address has no key: it must end in #token=… as “inbounds explore” printed it.";
    return;
  }
  const elsewhere =
    /^http:\/\/127\.0\.0\.1:\d+\//.test(written) && !written.startsWith(location.origin);
  if (elsewhere) location.assign(written);
  keepToken(token);
  byId("address").value = "";
  start();
}

function start() {
  sent = "";
  refresh(state.question);
  loadMap();
  loadLedger();
}

takeToken();
buildControls();
buildDensity();
buildError();
buildGuarantee();
buildGoal();
buildMap();
buildPeople();
buildTake();
buildFile();
buildBudget();
restore(location.hash);
listen(refresh);
listenToDoubts(showDoubt);
byId("connect").addEventListener("submit", connect);
addEventListener("hashchange", () => {
  takeToken();
  restore(location.hash);
});
start();
