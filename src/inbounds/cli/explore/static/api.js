// Talking to the server: the token, one request under way for each endpoint, files in frames. After
// the server has ended, another program could listen at its address. So the token itself is never
// sent, a file goes only to a program that proves that it knows the token, and it goes sealed: a
// browser may send a request again to whoever listens by then.

import { worded } from "./numbers.js";

const KEY = "inbounds-token";
const STOPPED =
  "The server does not respond. It may have been stopped. Start “inbounds explore” again and open the address that it prints.";
const NO_TOKEN =
  "The server does not know this page. Open the address that “inbounds explore” printed, or paste it at the top of this page.";
const STRANGER =
  "The program at this address is not the one that opened this page. Your file was not sent to it. Start “inbounds explore” again, and open the address that it prints.";
const CHANGED =
  "The file has changed since you chose it, or can no longer be read. Nothing was sent. Choose it again.";

/** What went wrong, in words; `status` is 0 if the server gave no answer, and -1 if nothing was sent. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The parts of what follows # in an address: token, state or a place on the page. */
export function fragment(text) {
  const parts = new Map();
  for (const part of text.replace(/^.*?#/s, "").split("&")) {
    const [name, value] = part.split(/=(.*)/s);
    if (value !== undefined) parts.set(name, value);
  }
  return parts;
}

/** Move the token from the address, where it could be copied by mistake, into this tab's memory. */
export function takeToken() {
  const parts = fragment(location.hash);
  if (!parts.has("token")) return;
  keepToken(parts.get("token"));
  const state = parts.has("state") ? `#state=${parts.get("state")}` : "";
  history.replaceState(null, "", location.pathname + state);
}

export const keepToken = (token) => sessionStorage.setItem(KEY, token);

let silent = false; // whether the last call got no answer: then the server may be another one

const CAREFUL = new Set(["/api/file/simulate"]); // which is told the names of columns

/** Ask the server; a blob in place of a text is sealed on its way. */
async function post(path, type, content) {
  const token = sessionStorage.getItem(KEY) || "";
  const isFile = content instanceof Blob;
  if (isFile && !token) throw new Problem(401, NO_TOKEN);
  const body = isFile ? await sealed(token, path, content) : content;
  if (token && (isFile || silent || CAREFUL.has(path))) await prove(token);
  const headers = { "content-type": type, "x-inbounds-pass": await passOf(token) };
  let response;
  try {
    response = await fetch(path, { method: "POST", headers, body });
  } catch {
    silent = true;
    throw new Problem(0, STOPPED);
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Problem(401, NO_TOKEN);
  throw new Problem(response.status, await said(response));
}

/** Return a blob that only a program with the token can read; fail if its file has changed. */
async function sealed(token, path, blob) {
  const bytes = await blob.arrayBuffer().catch(() => {
    throw new Problem(-1, CHANGED);
  });
  const raw = await crypto.subtle.sign("HMAC", await keyOf(token), encoder.encode("file"));
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  const once = crypto.getRandomValues(new Uint8Array(12));
  const how = { name: "AES-GCM", iv: once, additionalData: encoder.encode(path) };
  const text = await crypto.subtle.encrypt(how, key, bytes);
  return new Blob([once, text], { type: "application/octet-stream" });
}

/** Fail unless the server knows the token, which is not told to it. */
async function prove(token) {
  const nonce = crypto.getRandomValues(new Uint8Array(32));
  const body = JSON.stringify({ nonce: btoa(String.fromCharCode(...nonce)) });
  const headers = { "content-type": "application/json" };
  let response;
  try {
    response = await fetch("/api/prove", { method: "POST", headers, body });
  } catch {
    silent = true;
    throw new Problem(-1, STOPPED);
  }
  if (!(await isProof(response, token, nonce))) {
    silent = true;
    throw new Problem(401, STRANGER);
  }
  silent = false;
}

const encoder = new TextEncoder();

function keyOf(token) {
  const hash = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", encoder.encode(token), hash, false, ["sign", "verify"]);
}

const passes = new Map();
/** What shows that this page knows the token. It proves nothing for whoever sees it. */
async function passOf(token) {
  if (!token) return "";
  if (!passes.has(token)) {
    const signed = await crypto.subtle.sign("HMAC", await keyOf(token), encoder.encode("pass"));
    const bytes = [...new Uint8Array(signed)];
    passes.set(token, bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return passes.get(token);
}

async function isProof(response, token, nonce) {
  try {
    const proof = Uint8Array.from(atob((await response.json()).proof), (c) => c.charCodeAt(0));
    const message = await new Blob([encoder.encode("inbounds explore"), nonce]).arrayBuffer();
    return response.ok && (await crypto.subtle.verify("HMAC", await keyOf(token), proof, message));
  } catch {
    return false; // not JSON, or not base64
  }
}

async function said(response) {
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error) return worded(error);
  } catch {
    // Not JSON: the status alone has to do.
  }
  return `The server refused this (status ${response.status}).`;
}

export async function ask(path, body) {
  const response = await post(path, "application/json", JSON.stringify(body));
  return read(response);
}

/** Send a head and a file in one body: four bytes with the length of the head, the head, the file. */
function framed(head, file) {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, text.length);
  return new Blob([length.buffer, text, file], { type: "application/octet-stream" });
}

export async function askAboutFile(path, head, file) {
  const response = await post(path, "application/octet-stream", framed(head, file));
  return read(response);
}

/** Return the head of the answer, and the files in it as blobs by name. */
export async function fetchFiles(path, head, file) {
  const response = await post(path, "application/octet-stream", framed(head, file));
  const bytes = await whole(response);
  const [facts, length] = await received(() => headOf(bytes));
  let start = 4 + length;
  const files = facts.files.map(({ name, size }) => {
    const blob = new Blob([bytes.slice(start, start + size)], { type: "application/octet-stream" });
    start += size;
    return { name, blob };
  });
  return { facts, files };
}

/** Return the facts before the files, and their length in bytes. */
function headOf(bytes) {
  const length = new DataView(bytes).getUint32(0);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  if (!Array.isArray(facts.files)) throw new TypeError("an answer without files");
  return [facts, length];
}

const whole = (response) => received(() => response.arrayBuffer());
const read = (response) => received(() => response.json());

/** What an answer holds, which may break off. */
async function received(work) {
  try {
    return await work();
  } catch {
    silent = true;
    throw new Problem(0, STOPPED);
  }
}

/** Ask one thing at a time; of those that wait, only the newest is sent. */
export class Newest {
  constructor(path, { done, failed, busy = () => {} }) {
    Object.assign(this, { path, done, failed, busy, waiting: null, underway: false });
  }

  async ask(body, mark = null) {
    this.waiting = { body, mark };
    if (this.underway) return;
    this.underway = true;
    this.busy(true);
    while (this.waiting) {
      const { body: asked, mark: its } = this.waiting;
      this.waiting = null;
      try {
        this.done(await ask(this.path, asked), its);
      } catch (problem) {
        if (!(problem instanceof Problem)) this.#stop(problem);
        this.failed(problem, its);
      }
    }
    this.underway = false;
    this.busy(false);
  }

  #stop(problem) {
    this.underway = false;
    this.busy(false);
    throw problem; // a mistake of the page itself must not look like one of the person
  }
}
