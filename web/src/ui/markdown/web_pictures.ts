// Pictures in replies that are at a web address: shown when the user asks, fetched by this server, which draws them anew.
// The page itself loads nothing from the web.
import { blocks as words } from "../../language/en/chat/blocks";
import { answerOf, type Fetch, problemOf } from "../../wire/transport/http";

/** Milliseconds; the server itself waits 15 seconds for a picture. */
const TIMEOUT_MS = 40_000;
/** Pictures kept while the page is open, so that one is not fetched again when its reply is drawn again. */
const MOST = 60;

const shown = new Map<string, string>();

function keep(address: string, url: string): void {
  shown.set(address, url);
  const [oldest] = shown.keys();
  if (shown.size <= MOST || oldest === undefined) return;
  URL.revokeObjectURL(shown.get(oldest)!);
  shown.delete(oldest);
}

/** Puts the picture in place of its button, below the link to it. */
function put(box: HTMLElement, url: string, alt: string): void {
  const image = document.createElement("img");
  image.src = url;
  image.alt = alt;
  box.querySelector("[data-show]")?.replaceWith(image);
  box.querySelector("[role=status]")?.remove();
}

function addressOf(box: HTMLElement): string {
  return box.querySelector("a")?.href ?? "";
}

function altOf(box: HTMLElement): string {
  return box.querySelector("a")?.textContent ?? "";
}

/** Draws the pictures in `root` that were shown before. */
export function showKnown(root: HTMLElement): void {
  for (const box of root.querySelectorAll<HTMLElement>(".web-picture")) {
    const url = shown.get(addressOf(box));
    if (url !== undefined) put(box, url, altOf(box));
  }
}

/** Fetches and draws the picture of a button, or says beside it why it cannot be shown. */
export async function showPicture(button: HTMLButtonElement, fetch: Fetch): Promise<void> {
  const box = button.closest<HTMLElement>(".web-picture");
  if (!box || button.getAttribute("aria-disabled") === "true") return;
  const address = addressOf(box);
  button.setAttribute("aria-disabled", "true");
  button.textContent = words().showing;
  let problem = words().pictureFailed;
  try {
    const response = await fetch("api/pictures", {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ url: address }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) {
      const url = URL.createObjectURL(await response.blob());
      keep(address, url);
      return put(box, url, altOf(box));
    }
    problem = problemOf(answerOf(response.status, await response.text()));
  } catch {
    // Not reachable, or too slow: the general sentence.
  }
  button.removeAttribute("aria-disabled");
  button.textContent = words().show;
  let note = box.querySelector<HTMLElement>("[role=status]");
  if (!note) {
    note = document.createElement("span");
    note.setAttribute("role", "status");
    box.append(note);
  }
  note.textContent = problem;
}
