// What a user can do about a message that was refused, or a reply that failed, by the error's code. Pure.

/** In the order in which they are offered. */
const REMEDIES = ["remove-file", "choose-model", "retry", "new-chat", "edit"] as const;

export type Remedy = (typeof REMEDIES)[number];

/** What is possible where the error is shown. */
export interface Situation {
  /** The message did not reach the chat: it can still be changed. */
  readonly unsent: boolean;
  readonly hasFiles: boolean;
  /** Another model can be chosen. */
  readonly hasOtherModels: boolean;
}

const FILE = ["remove-file"] as const;
const MODEL = ["choose-model"] as const;
const LATER = ["retry"] as const;
const MODEL_OR_LATER = ["choose-model", "retry"] as const;
const CHANGE = ["edit"] as const;

/** Every code that can meet a message. Trying again is offered only where the same message can succeed later. */
export const REMEDIES_OF: Readonly<Record<string, readonly Remedy[]>> = {
  // The file.
  blob_not_found: FILE,
  document_locked: FILE,
  document_too_long: FILE,
  document_unreadable: FILE,
  file_breaks_reader: FILE,
  file_empty: FILE,
  file_too_complex: FILE,
  file_unsupported: FILE,
  image_too_large: FILE,
  image_unreadable: FILE,
  sound_too_long: FILE,
  sound_unreadable: FILE,
  sound_unsupported: FILE,
  storage_full: FILE,
  video_too_large: FILE,
  video_too_long: FILE,
  video_unreadable: FILE,
  video_unsupported: FILE,
  video_without_pictures: FILE,
  audio_expired: FILE,
  too_large: ["remove-file", "edit"],
  document_without_text: ["remove-file", "choose-model"],
  modality_unsupported: ["remove-file", "choose-model"],
  voice_unavailable: ["remove-file", "choose-model"],

  // The model.
  model_not_found: MODEL,
  model_unusable: MODEL,
  template_error: MODEL,
  remote_code_untrusted: MODEL,
  unknown_engine: MODEL,
  unsupported: MODEL,
  engine_missing: MODEL,
  weights_missing: MODEL,
  context_length_exceeded: ["new-chat", "choose-model"],
  engine_failed: MODEL_OR_LATER,
  load_failed: MODEL_OR_LATER,
  model_empty: MODEL_OR_LATER,
  model_failed: MODEL_OR_LATER,
  model_unavailable: MODEL_OR_LATER,
  model_unloaded: MODEL_OR_LATER,
  not_enough_memory: MODEL_OR_LATER,
  upstream_failed: MODEL_OR_LATER,
  upstream_refused: MODEL_OR_LATER,
  upstream_unreachable: MODEL_OR_LATER,

  // The moment.
  busy: LATER,
  call_cut: LATER,
  cancelled: LATER,
  connection_lost: LATER,
  count_timeout: LATER,
  files_busy: LATER,
  gateway_unreachable: LATER,
  internal_error: LATER,
  load_running: LATER,
  model_loading: LATER,
  model_restarting: LATER,
  model_silent: MODEL_OR_LATER,
  queue_full: LATER,
  rate_limited: LATER,
  rate_limit_exceeded: LATER,
  concurrency_limit_exceeded: LATER,
  insufficient_quota: LATER,
  reply_incomplete: LATER,
  request_timeout: LATER,
  run_in_progress: LATER,
  scripted_failure: LATER,
  engine_stalled: MODEL_OR_LATER,
  server_draining: LATER,
  server_stopping: LATER,
  storage_unavailable: LATER,
  storage_denied: LATER,
  storage_bucket_missing: LATER,
  timeout: MODEL_OR_LATER,
  too_many_connections: LATER,
  too_many_pending: LATER,
  too_many_sockets: LATER,
  too_many_temporary: LATER,
  too_much_in_flight: LATER,
  unauthorized: LATER,
  unavailable: MODEL_OR_LATER,
  unreachable: LATER,
  app_disabled: LATER,
  device_lost: LATER,
  worker_lost: LATER,
  access_revoked: LATER,
  worker_restarted: LATER,

  // The message itself, or the chat.
  gateway_gone: ["new-chat", "edit"],
  id_taken: CHANGE,
  invalid_request: CHANGE,
  message_gone: CHANGE,
  nothing_to_continue: CHANGE,
  not_found: ["new-chat", "edit"],
  unknown_message: CHANGE,
  unknown_parent: CHANGE,
};

/** What to offer about an error. An unknown one may be over at the next attempt. */
export function remediesFor(code: string, { unsent, hasFiles, hasOtherModels }: Situation): readonly Remedy[] {
  const fitting = REMEDIES_OF[code] ?? LATER;
  const isPossible: Readonly<Record<Remedy, boolean>> = {
    "remove-file": fitting.includes("remove-file") && unsent && hasFiles,
    "choose-model": fitting.includes("choose-model") && hasOtherModels,
    retry: fitting.includes("retry"),
    "new-chat": fitting.includes("new-chat"),
    // A message that is nowhere else can always be changed.
    edit: unsent,
  };
  return REMEDIES.filter((remedy) => isPossible[remedy]);
}

interface NamedFile {
  readonly name?: string;
}

/** The files that a sentence of the server is about: it begins with the name of the one at fault. All, if it names none. */
export function filesAtFault<File extends NamedFile>(files: readonly File[], sentence: string): readonly File[] {
  const named = files.filter(({ name = "" }) => name !== "" && sentence.includes(name));
  return named.length > 0 ? named : files;
}
