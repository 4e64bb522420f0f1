import type { ProblemWords } from "../en/problems";

/** Codes for which the server's sentence adds nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  admin_needed: "Das darf nur jemand, der den Server verwaltet.",
  approval_closed: "Diese Frage ist nicht mehr offen.",
  busy: "Der Server ist gerade zu beschäftigt. Versuche es gleich noch einmal.",
  call_idle: "Es wurde lange nichts gesagt, deshalb hat der Server den Anruf beendet. Ruf noch einmal an.",
  call_too_long: "Länger darf ein Anruf nicht dauern. Ruf noch einmal an.",
  connection_lost: "Die Verbindung brach mittendrin ab. Versuche es noch einmal.",
  conversation_deleted: "Der Chat dieses Anrufs wurde gelöscht.",
  message_gone: "Diese Nachricht gibt es nicht mehr.",
  nothing_said: "In diesem Chat wurde noch nichts gesagt.",
  queue_full: "Die Warteschlange des Servers ist voll. Versuche es in ein paar Minuten noch einmal.",
  reply_incomplete: "Das brach vor dem Ende ab. Versuche es noch einmal.",
  run_ended: "Diese Antwort ist schon zu Ende. Sende die Nachricht einfach so.",
  run_in_progress: "Hier wird gerade eine Antwort geschrieben. Halte sie an oder warte, bis sie fertig ist.",
  server_stopping: "Der Server wird gerade beendet. Versuche es gleich noch einmal.",
  timeout: "Das Modell hat zu lange gebraucht. Versuche es später noch einmal.",
  voice_lost: "Die Stimme des Servers fällt immer wieder aus. Warum, steht in seinem Protokoll.",
  worker_lost: "Das Modell ist mitten in der Arbeit ausgefallen und wird neu gestartet. Versuche es gleich noch einmal.",
};

/** Codes for which the server's sentence names the object or the cause and is appended. */
const LEADS: Readonly<Record<string, string>> = {
  context_length_exceeded: "Der Chat ist länger, als das Modell auf einmal lesen kann.",
  disk_full: "Auf dem Server ist kein Platz mehr.",
  document_too_long: "Das Dokument ist zu lang.",
  document_unreadable: "Das Dokument ist nicht zu lesen.",
  document_without_text: "In dem Dokument steht kein Text.",
  engine_failed: "Das Modell hat einen Fehler gemeldet.",
  file_unsupported: "Mit dieser Art Datei kann kein Modell etwas anfangen.",
  internal_error: "Im Server ist etwas kaputtgegangen.",
  key_needed: "Dafür muss man sich mit einem Schlüssel angemeldet haben.",
  modality_unsupported: "Das Modell kann eine der Dateien nicht aufnehmen.",
  model_loading: "Das Modell wird noch geladen. Versuche es gleich noch einmal.",
  model_not_found: "Dieses Modell gibt es hier nicht.",
  rate_limited: "Das waren zu viele Versuche.",
  sound_too_long: "Die Aufnahme ist zu lang.",
  sound_unreadable: "Die Aufnahme ist nicht zu lesen.",
  storage_unavailable: "Der Server kann gerade nichts speichern.",
  too_large: "Das ist größer, als der Server nimmt.",
  tool_server_error: "Der Werkzeugserver hat einen Fehler gemeldet.",
  tool_server_unavailable: "Der Werkzeugserver ist gerade nicht zu haben.",
  tool_server_unreachable: "Der Werkzeugserver ist nicht zu erreichen.",
  too_many_sockets: "Es sind schon zu viele Verbindungen offen.",
  unavailable: "Das ist gerade nicht zu haben.",
  upstream_failed: "Der Server, auf dem das Modell läuft, hat einen Fehler gemeldet.",
  upstream_refused: "Der Server, auf dem das Modell läuft, hat das abgelehnt.",
  upstream_unreachable: "Der Server, auf dem das Modell läuft, ist nicht zu erreichen.",
  voice_not_found: "Diese Stimme gibt es hier nicht.",
  voice_unavailable: "Die Stimme des Servers ist gerade nicht zu haben.",
};

export const problems: ProblemWords = {
  told: (code, message) => SENTENCES[code] ?? (LEADS[code] === undefined ? message : `${LEADS[code]} Der Server sagt: ${message}`),
};
