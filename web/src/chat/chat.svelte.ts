// The conversation on the page and its one running reply. Owns sending, stopping, asking again, editing and what of
// it outlives a reload. Knows no DOM, no address and no storage but through what it is given.
import type { ChatRequest, ServerMessage } from "../wire/chat";
import type { Clock } from "../wire/clock";
import type { ChatSocket } from "../wire/socket";
import { type Announcer, readOut } from "./announcer.svelte";
import type { Draft } from "./draft.svelte";
import { promptOf } from "./prompt";
import { advance, begin, cancelled, fail, hasOutput, isRunning, isUnanswered, type Reply } from "./reply";
import type { ConversationStore, SavedConversation } from "./store";
import { type Choice, childrenOf, choose, path, prune } from "./tree";
import { AssistantTurn, newId, restore, save, type Turn, UserTurn } from "./turn.svelte";

/** How long the server may take to end a reply it was told to stop, milliseconds, before the connection is dropped. */
const PATIENCE = 2000;
const KEEP_EVERY = 500;

const INTERRUPTED = { code: "interrupted", message: "The page was reloaded while this reply was being written." };
const UNREACHABLE = { code: "unreachable", message: "The server could not be reached." };
const LOST = { code: "connection_lost", message: "The connection to the server was lost in the middle of this reply." };

export interface Surroundings {
  readonly socket: ChatSocket;
  readonly clock: Clock;
  readonly draft: Draft;
  readonly store: ConversationStore;
  readonly announcer: Announcer;
  /** Who answers, and how it is asked, at this moment. */
  readonly options: () => Pick<ChatRequest, "model" | "enable_thinking"> & { readonly speaker: string };
  /** A reply failed: the server may have changed its state. */
  readonly trouble: () => void;
}

export class Chat {
  readonly #around: Surroundings;
  #turns = $state.raw<readonly Turn[]>([]);
  #choice = $state.raw<Choice>({});
  #running = $state.raw<AssistantTurn | null>(null);
  #stopping = $state(false);
  #previous = $state.raw<SavedConversation | null>(null);
  readonly #shown = $derived(path(this.#turns, this.#choice));

  /** The running reply's latest value; drawn once a frame, however fast it grows. */
  #latest: Reply | null = null;
  #frameAsked = false;
  #keepAsked = false;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#load(around.store.load());
  }

  get shown(): readonly Turn[] {
    return this.#shown;
  }

  get running(): AssistantTurn | null {
    return this.#running;
  }

  /** The running reply was told to stop and has not ended yet. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** There is an earlier conversation to go back to. */
  get hasPrevious(): boolean {
    return this.#previous !== null;
  }

  get title(): string {
    const first = this.#shown[0];
    return first ? first.text.trim().replace(/\s+/g, " ").slice(0, 60) : "";
  }

  /** The turn and its alternatives, oldest first. */
  versions(turn: Turn): readonly Turn[] {
    return childrenOf(this.#turns, turn.parent);
  }

  show(turn: Turn): void {
    if (this.#running) return;
    this.#choice = choose(this.#choice, turn);
    this.keep();
  }

  /** Say something; false, and nothing changed, when it is empty or a reply is running. */
  send(text: string): boolean {
    if (this.#running || text.trim() === "") return false;
    const last = this.#shown.at(-1);
    // What was said just now and had no answer at all is said again, not twice.
    const unanswered = last?.role === "assistant" && isUnanswered(last.reply) ? this.#asked(last) : null;
    if (unanswered) this.#turns = prune(this.#turns, unanswered);
    this.#say(unanswered ? unanswered.parent : (last?.id ?? null), text);
    return true;
  }

  /** Say something else in place of an earlier message; what followed it stays reachable. */
  edit(turn: UserTurn, text: string): boolean {
    if (this.#running || text.trim() === "") return false;
    this.#say(turn.parent, text);
    return true;
  }

  /** Ask for another reply to the same message. One that said nothing is not kept. */
  again(turn: AssistantTurn): void {
    if (this.#running) return;
    const asked = this.#asked(turn);
    if (!asked) return;
    if (this.#around.draft.text === asked.text) this.#around.draft.text = "";
    if (!hasOutput(turn.reply)) this.#turns = prune(this.#turns, turn);
    this.#answer(asked);
  }

  stop(): void {
    const turn = this.#running;
    if (!turn || this.#stopping) return;
    this.#stopping = true;
    this.#around.socket.cancel();
    // A connection that never opened has nobody who could say "cancelled".
    if (!this.#around.socket.busy) return this.#giveUp(turn);
    this.#around.clock.after(PATIENCE, () => this.#giveUp(turn));
  }

  /** An empty page. The conversation that was on it can be brought back while the page lives. */
  startAnew(): void {
    const typed = this.#around.draft.text;
    if (this.#running) this.#giveUp(this.#running);
    this.#around.draft.text = typed;
    if (this.#turns.length === 0) return;
    this.#previous = this.#saved();
    this.#turns = [];
    this.#choice = {};
    this.keep();
  }

  goBack(): void {
    if (this.#previous === null || this.#running) return;
    this.#load(this.#previous);
    this.#previous = null;
    this.keep();
  }

  /** Put the conversation where a reload finds it. */
  keep(): void {
    this.#flush();
    this.#around.store.save(this.#saved());
  }

  #saved(): SavedConversation {
    return { version: 1, turns: this.#turns.map(save), choice: this.#choice };
  }

  #load(saved: SavedConversation | null): void {
    this.#turns = saved?.turns.map((turn) => restore(turn, INTERRUPTED)) ?? [];
    this.#choice = saved?.choice ?? {};
  }

  #asked(turn: AssistantTurn): UserTurn | null {
    const asked = this.#turns.find((other) => other.id === turn.parent);
    return asked?.role === "user" ? asked : null;
  }

  #add(turn: Turn): void {
    this.#turns = [...this.#turns, turn];
    this.#choice = choose(this.#choice, turn);
  }

  #say(parent: string | null, text: string): void {
    const turn = new UserTurn(newId(), parent, text);
    this.#add(turn);
    this.#answer(turn);
  }

  #answer(asked: UserTurn): void {
    const { socket, clock, announcer, options } = this.#around;
    const { speaker, ...asking } = options();
    const until = this.#shown.findIndex((turn) => turn.id === asked.id) + 1;
    const messages = promptOf(this.#shown.slice(0, until));
    const turn = new AssistantTurn(newId(), asked.id, { ...begin(clock.now()), model: speaker });
    this.#add(turn);
    this.#running = turn;
    this.#latest = turn.reply;
    this.keep();
    announcer.say(`${speaker} is answering.`);
    socket.send(
      { id: turn.id, messages, streaming: true, progress: true, ...asking },
      {
        message: (message) => this.#receive(turn, message),
        lost: (reached, reason) => {
          const sentence = /\s.*\.$/.test(reason) ? reason : null;
          const failure = reached ? LOST : UNREACHABLE;
          this.#end(turn, (reply) => fail(reply, sentence ? { ...failure, message: sentence } : failure, clock.now()));
        },
      },
    );
  }

  #receive(turn: AssistantTurn, message: ServerMessage): void {
    if (this.#running !== turn || !this.#latest) return;
    const now = this.#around.clock.now();
    const before = this.#latest;
    const next = advance(before, message, now);
    if (!isRunning(next)) return this.#end(turn, () => next);
    if (next.stage === "queued" && before.stage !== "queued") {
      this.#around.announcer.say(`Waiting in the queue, position ${next.queue?.position ?? "unknown"}.`);
    }
    this.#latest = next;
    this.#drawSoon();
    this.#keepSoon();
  }

  #giveUp(turn: AssistantTurn): void {
    if (this.#running !== turn) return;
    this.#around.socket.abandon();
    this.#end(turn, (reply) => cancelled(reply, this.#around.clock.now()));
  }

  #end(turn: AssistantTurn, ending: (reply: Reply) => Reply): void {
    if (this.#running !== turn || !this.#latest) return;
    const reply = ending(this.#latest);
    this.#running = this.#latest = null;
    this.#stopping = false;
    turn.reply = reply;
    this.keep();
    this.#handBack(turn);
    this.#tell(reply);
    if (reply.stage === "failed") this.#around.trouble();
  }

  /** What had no answer at all is put back where it was typed, unless something else is being typed there. */
  #handBack(turn: AssistantTurn): void {
    const { draft } = this.#around;
    if (isUnanswered(turn.reply) && draft.text === "") draft.text = this.#asked(turn)?.text ?? "";
  }

  #tell({ stage, finish, model, text }: Reply): void {
    // A failure is an alert of its own on the page.
    if (stage === "failed") return;
    this.#around.announcer.say(finish === "cancelled" ? "Stopped." : readOut(model, text));
  }

  #drawSoon(): void {
    if (this.#frameAsked) return;
    this.#frameAsked = true;
    this.#around.clock.frame(() => {
      this.#frameAsked = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#running && this.#latest) this.#running.reply = this.#latest;
  }

  #keepSoon(): void {
    if (this.#keepAsked) return;
    this.#keepAsked = true;
    this.#around.clock.after(KEEP_EVERY, () => {
      this.#keepAsked = false;
      if (this.#running) this.keep();
    });
  }
}
