// Talking to the server: the token, one request under way for each endpoint, files in frames.

const KEY = "inbounds-token";
const STOPPED =
  "The server does not respond. It may have been stopped. Start “inbounds explore” again and open the address that it prints.";
const NO_TOKEN =
  "The server does not know this page. Open the address that “inbounds explore” printed, or paste it below.";

/** What went wrong, in words; `status` is 0 if the server could not be reached. */
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

async function post(path, type, body) {
  const headers = { "content-type": type, "x-inbounds-token": sessionStorage.getItem(KEY) || "" };
  let response;
  try {
    response = await fetch(path, { method: "POST", headers, body });
  } catch {
    throw new Problem(0, STOPPED);
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Problem(401, NO_TOKEN);
  throw new Problem(response.status, await said(response));
}

async function said(response) {
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error) return error;
  } catch {
    // Not JSON: the status alone has to do.
  }
  return `The server refused this (status ${response.status}).`;
}

export async function ask(path, body) {
  const response = await post(path, "application/json", JSON.stringify(body));
  return response.json();
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
  return response.json();
}

/** Return the head of the answer, and the files in it as blobs by name. */
export async function fetchFiles(path, head, file) {
  const response = await post(path, "application/octet-stream", framed(head, file));
  const bytes = await response.arrayBuffer();
  const length = new DataView(bytes).getUint32(0);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  let start = 4 + length;
  const files = facts.files.map(({ name, size }) => {
    const blob = new Blob([bytes.slice(start, start + size)], { type: "application/octet-stream" });
    start += size;
    return { name, blob };
  });
  return { facts, files };
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
