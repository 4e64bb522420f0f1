// Search over the documentation of Duologue.
import { type Answer, type Fetch, request } from "../transport/http";

/** A section of the documentation; `text` is Markdown. */
export interface HelpSection {
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

export function searchHelp(fetch: Fetch, question: string): Promise<Answer<{ readonly sections: readonly HelpSection[] }>> {
  return request(fetch, `api/help?q=${encodeURIComponent(question.slice(0, 300))}`);
}
