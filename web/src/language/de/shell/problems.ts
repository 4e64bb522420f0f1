import type { UpstreamProblem } from "../../../wire/models/upstreams";
import type { ProblemWords } from "../../en/shell/problems";
import { modelSize } from "../../../ui/parts/byte_size";
import type { ProblemValues } from "../../../wire/transport/http";

/** Codes for which the server's sentence adds nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  admin_needed: "Das können nur Admins.",
  app_disabled: "Das wurde auf diesem Server abgeschaltet.",
  approval_closed: "Diese Anfrage ist nicht mehr offen.",
  busy: "Der Server ist ausgelastet. Versuche es gleich noch einmal.",
  call_idle: "Der Anruf wurde beendet, weil lange niemand gesprochen hat.",
  call_too_long: "Der Anruf hat die maximale Dauer erreicht. Ruf noch einmal an.",
  connection_lost: "Verbindung verloren. Versuche es erneut.",
  conversation_deleted: "Der Chat dieses Anrufs wurde gelöscht.",
  file_empty: "Die Datei ist leer.",
  message_gone: "Diese Nachricht gibt es nicht mehr.",
  nothing_said: "Dieser Chat ist noch leer.",
  queue_full: "Die Warteschlange ist voll. Versuche es in ein paar Minuten noch einmal.",
  recording_forbidden: "Dieser Anruf kann nicht aufgenommen werden: Aufnahmen sind hier abgeschaltet, oder der Chat ist temporär.",
  nothing_recorded: "Diese Aufnahme hat keinen Ton: Sie wurde gleich zu Beginn abgebrochen.",
  recording_not_found: "Diese Aufnahme gibt es nicht mehr.",
  recording_running: "Diese Aufnahme läuft noch. Sie kann abgespielt werden, sobald sie beendet ist.",
  recording_unavailable: "Dieser Server kann nicht aufnehmen; ihm fehlt ein Paket.",
  recordings_full: "Der Platz für Aufnahmen ist voll. Lösche zuerst eine.",
  reply_incomplete: "Die Antwort ist unvollständig. Versuche es erneut.",
  run_ended: "Diese Antwort ist schon fertig. Sende die Nachricht einfach so.",
  run_in_progress: "Hier wird gerade eine Antwort geschrieben. Stoppe sie oder warte, bis sie fertig ist.",
  server_stopping: "Der Server wird gerade beendet. Versuche es gleich noch einmal.",
  too_many_upstreams: "Es sind schon zu viele Server verbunden. Entferne zuerst einen.",
  too_many_voices: "Mehr eigene Stimmen sind nicht erlaubt. Lösche zuerst eine.",
  upstream_exists: "Ein verbundener Server heißt schon so.",
  upstream_key_needed: "Der gespeicherte Schlüssel gilt nur für die alte Adresse. Gib den für die neue ein.",
  upstream_not_found: "Dieser Server ist nicht mehr verbunden.",
  timeout: "Das Modell hat zu lange gebraucht. Versuche es später noch einmal.",
  voice_consent_missing: "Eine Stimme wird nur mit der Zustimmung ihres Sprechers gespeichert.",
  voice_lost: "Die Sprachausgabe des Servers fällt immer wieder aus. Sieh im Serverprotokoll nach.",
  avatar_not_found: "Dieses Gesicht gibt es hier nicht.",
  avatar_not_yours: "Dieses Gesicht kann nur ändern, wem es gehört.",
  avatar_consent_missing: "Ein Bild wird nur mit der Zustimmung der abgebildeten Person gespeichert.",
  avatar_unreadable: "Die Datei ist beschädigt oder kein Bild und keine VRM-Figur. Exportiere die Figur neu, als VRM 0.x oder 1.0.",
  avatar_too_small: "Das Bild hat zu wenige Pixel für ein Gesicht. Wähle ein größeres.",
  avatar_too_large: "Die Figur ist zu groß: zu viele Dreiecke oder zu große Texturen. Verkleinere sie in dem Programm, mit dem sie erstellt wurde.",
  avatar_refers_outside: "Die Figur verweist auf etwas außerhalb ihrer Datei, das nie geladen wird. Exportiere sie als eine VRM-Datei, die alles enthält.",
  avatar_extension_unknown: "Die Figur verwendet eine Erweiterung, die die Seite nicht zeichnen kann. Exportiere sie ohne Komprimierung von Netzen und Texturen.",
  avatar_without_head: "Die Figur hat keinen Kopfknochen. Gib ihr die Knochen von VRM und exportiere sie neu.",
  avatar_without_mouth: "Die Figur kann den Mund nicht öffnen: Ihr fehlt der Ausdruck „aa“ (in VRM 0.x „A“).",
  avatar_without_preview: "Diese Figur enthält kein Vorschaubild.",
  landmarks_missing: "In diesem Bild ist das Gesicht noch nicht markiert. Setze seine Punkte einmal unter Einstellungen > Stimme.",
  landmarks_invalid: "Diese Punkte können nicht die eines Gesichts sein. Setze sie noch einmal.",
  too_many_avatars: "Mehr eigene Gesichter sind nicht erlaubt. Lösche zuerst eines.",
  voice_not_yours: "Diese Stimme kann nur ändern, wem sie gehört.",
  voice_sample_long: "Die Aufnahme ist länger als 30 Sekunden.",
  voice_sample_short: "Die Aufnahme ist kürzer als eine Sekunde. Gut sind etwa zehn Sekunden deutliche Sprache.",
  voice_sample_silent: "In der Aufnahme ist nichts zu hören. Prüfe das Mikrofon und sprich etwas lauter.",
  voice_sample_text_missing: "Diese Stimme muss wissen, was in der Aufnahme gesagt wird. Trage es bei der Stimme ein.",
  worker_lost: "Das Modell ist ausgefallen und startet neu. Versuche es gleich noch einmal.",
  blob_not_found: "Diese Datei gibt es nicht mehr. Füge sie erneut an.",
  call_running: "Der Anruf läuft schon.",
  clip_too_long: "Der Clip wäre länger als zehn Minuten. Mache mehrere aus kürzeren Texten.",
  count_timeout: "Das Modell ist zu beschäftigt, um die Länge des Chats zu bestimmen. Versuche es gleich noch einmal.",
  device_lost: "Die Grafikkarte ist ausgefallen, oder das Modell antwortet nicht mehr. Es wird neu gestartet; versuche es gleich noch einmal.",
  document_locked: "Das PDF ist mit einem Passwort geschützt. Entferne das Passwort und versuche es erneut.",
  file_breaks_reader: "Die Datei ist beschädigt oder viel zu komplex und kann nicht gelesen werden.",
  file_too_complex: "Die Datei ist zu komplex: Sie zu lesen braucht zu viel Zeit oder Speicher.",
  files_busy: "Der Server liest gerade zu viele Dateien. Versuche es gleich noch einmal.",
  has_children: "Auf diese Nachricht folgen weitere.",
  import_running: "Es läuft schon ein Import. Warte, bis er fertig ist.",
  import_unknown: "Die Datei enthält keine Chats in einem bekannten Format.",
  import_unreadable: "Die Datei ist beschädigt und kann nicht importiert werden.",
  last_admin: "Der letzte Admin kann nicht gesperrt oder herabgestuft werden.",
  load_running: "Es wird schon ein anderes Modell geladen. Warte, bis es fertig ist.",
  login_over: "Diese Anmeldung ist abgelaufen. Beginne von vorn.",
  model_unloaded: "Das Modell wurde entladen. Wähle ein anderes, oder lade es wieder.",
  not_editable: "Das Ergebnis eines Tools kann nicht bearbeitet werden.",
  nothing_to_continue: "Diese Antwort ist schon vollständig.",
  nothing_to_fold: "Hier gibt es noch zu wenig Text für eine Zusammenfassung.",
  pack_in_use: "Dieses Stimmpaket wird verwendet. Wähle erst ein anderes.",
  pack_running: "Es wird schon ein anderes Stimmpaket installiert. Warte oder brich das ab.",
  pictures_busy: "Es werden gerade zu viele Bilder geladen. Versuche es gleich noch einmal.",
  too_many_pending: "Es warten schon zu viele Nachrichten.",
  too_many_temporary: "Es sind zu viele temporäre Chats offen. Schließe zuerst einen.",
  too_many_uploads: "Es laufen zu viele Uploads. Warte, bis einer fertig ist.",
  unauthorized: "Der Schlüssel fehlt oder ist falsch. Melde dich erneut an.",
  upload_not_found: "Dieser Upload ist abgebrochen. Füge die Datei erneut an.",
  worker_restarted: "Das Modell wurde von einem Admin neu gestartet. Versuche es gleich noch einmal.",
};

/** Codes for which the server's sentence names the object or the cause and is appended. */
const LEADS: Readonly<Record<string, string>> = {
  bad_url: "Diese Adresse ist ungültig.",
  context_length_exceeded: "Der Chat ist zu lang für das Modell.",
  disk_full: "Auf dem Server ist kein Speicherplatz mehr frei.",
  document_too_long: "Das Dokument ist zu lang.",
  document_unreadable: "Das Dokument ist nicht lesbar.",
  document_without_text: "Das Dokument enthält keinen Text.",
  engine_failed: "Das Modell hat einen Fehler gemeldet.",
  file_unsupported: "Dieser Dateityp wird nicht unterstützt.",
  internal_error: "Interner Serverfehler.",
  key_needed: "Melde dich dafür mit einem Schlüssel an.",
  modality_unsupported: "Das Modell unterstützt eine der Dateien nicht.",
  model_loading: "Das Modell wird noch geladen. Versuche es gleich noch einmal.",
  model_not_found: "Dieses Modell gibt es hier nicht.",
  private_address: "Diese Adresse ist nicht erlaubt.",
  rate_limited: "Zu viele Versuche.",
  sound_too_long: "Die Aufnahme ist zu lang.",
  sound_unreadable: "Die Aufnahme ist nicht lesbar.",
  video_too_large: "Das Video ist zu groß, höchstens 4K.",
  video_too_long: "Das Video ist zu lang.",
  video_unreadable: "Das Video ist nicht lesbar.",
  video_unsupported: "Videos dieser Art können hier nicht gelesen werden.",
  video_without_pictures: "Das Video enthält keine Bilder.",
  storage_unavailable: "Der Server kann gerade nichts speichern.",
  storage_full: "Dein Speicherplatz auf dem Server ist voll.",
  too_large: "Das ist zu groß für den Server.",
  tool_server_error: "Der Tool-Server hat einen Fehler gemeldet.",
  tool_server_unavailable: "Der Tool-Server ist gerade nicht verfügbar.",
  tool_server_unreachable: "Der Tool-Server ist nicht erreichbar.",
  too_many_sockets: "Es sind zu viele Verbindungen offen.",
  too_much_in_flight: "Du sendest gerade zu viel auf einmal.",
  unavailable: "Das ist gerade nicht verfügbar.",
  upstream_failed: "Der Modellserver hat einen Fehler gemeldet.",
  upstream_refused: "Der Modellserver hat die Anfrage abgelehnt.",
  upstream_unreachable: "Der Modellserver ist nicht erreichbar.",
  voice_not_found: "Diese Stimme gibt es hier nicht.",
  voice_unavailable: "Die Stimme des Servers ist gerade nicht verfügbar.",
  access_revoked: "Der Zugang, mit dem das begonnen wurde, wurde entzogen. Beginne es mit einem gültigen Schlüssel neu.",
  forbidden: "Das ist dir nicht erlaubt.",
  hub_busy: "Das Modellverzeichnis nimmt gerade keine Anfragen mehr an.",
  hub_unreachable: "Das Modellverzeichnis ist nicht erreichbar.",
  image_too_large: "Das Bild ist zu groß.",
  image_unreadable: "Das Bild ist nicht lesbar.",
  model_failed: "Das Modell konnte nicht geladen werden.",
  name_taken: "Dieser Name ist schon vergeben.",
  not_enough_memory: "Der Arbeitsspeicher reicht nicht aus.",
  sound_unsupported: "Aufnahmen dieser Art können hier nicht gelesen werden.",
  template_error: "Das Modell kann mit diesen Nachrichten nicht umgehen.",
  unsupported: "Das wird hier nicht unterstützt.",
  video_unavailable: "Dieser Server kann kein Video zeichnen.",
  write_failed: "Auf dem Server kann dieser Ordner nicht beschrieben werden.",
};

/** Sentences with the values of the problem, for problems that have them. */
const VALUED: Readonly<Record<string, (values: ProblemValues) => string>> = {
  disk_full: ({ needed, free, folder }) => {
    const download = Number(needed) > 0 ? `, der Download braucht ${size(needed)} und etwas Reserve` : "";
    return `Auf dem Datenträger von ${folder} sind nur noch ${size(free)} frei${download}. Lösche ein Modell, oder starte den Server mit --data und einem anderen Ordner.`;
  },
};

const size = (bytes: number | string | undefined): string => modelSize(Number(bytes));

/** What is wrong with a connected model server, by reason, or by code where there is no reason. */
const UPSTREAMS: Readonly<Record<string, string>> = {
  certificate: "Dieser Rechner vertraut dem Zertifikat des Servers nicht. Nutze ein vertrauenswürdiges Zertifikat oder, im eigenen Netz, http://.",
  disconnected: "Der Server hat die Verbindung abgebrochen. Prüfe, ob er läuft, und sieh in sein Protokoll.",
  error: "Der Server hat mit einem Fehler geantwortet.",
  key_missing: "Der Server verlangt einen Schlüssel.",
  key_refused: "Der Server lehnt den Schlüssel ab. Gib einen gültigen ein.",
  no_answer: "Der Server antwortet nicht. Prüfe die Adresse, ob er läuft und ob eine Firewall ihn blockiert.",
  no_tls: "Der Server unterstützt kein TLS. Nutze http:// statt https://.",
  no_words: "Der Server antwortet, aber das Modell hat nichts geschrieben. Versuche ein anderes.",
  not_a_model_server: "Dort antwortet kein OpenAI-kompatibler Server. Prüfe die Adresse samt Pfad.",
  not_listening: "Der Server nimmt keine Verbindung an. Prüfe, ob er auf diesem Port läuft.",
  rate_limited: "Der Server nimmt gerade keine Anfragen mehr an. Warte oder prüfe dort deinen Tarif.",
  redirected: "Der Server leitet an eine andere Adresse weiter. Gib diese ein, wenn sie stimmt.",
  unknown_host: "Diesen Server gibt es nicht. Prüfe die Schreibweise der Adresse.",
  private_address: "Diese Adresse ist nicht erlaubt: In einer Cloud liefert sie Zugangsdaten. Gib eine andere ein.",
  upstream_empty: "Der Server hat kein Chatmodell. Lade dort eines und teste erneut.",
  upstream_in_settings: "Diese Adresse ist schon in der Konfiguration des Servers verbunden, und die hat Vorrang.",
  upstream_key_lost: "Der gespeicherte Schlüssel ist nicht mehr lesbar. Gib ihn erneut ein.",
};

/** What the server's own words are called after these reasons; nothing is appended to the others. */
const DETAILS: Readonly<Record<string, (detail: string) => string>> = {
  certificate: (detail) => `(${detail})`,
  error: (detail) => `Meldung: ${detail}`,
  key_missing: (detail) => `Meldung: ${detail}`,
  key_refused: (detail) => `Meldung: ${detail}`,
  rate_limited: (detail) => `Meldung: ${detail}`,
  redirected: (detail) => `Neue Adresse: ${detail}`,
  no_words: (detail) => `(${detail})`,
};

function ofUpstream({ code, message, reason = "", detail = "" }: UpstreamProblem): string {
  const sentence = UPSTREAMS[reason] ?? UPSTREAMS[code];
  if (sentence === undefined) return problems.told(code, message);
  return detail === "" ? sentence : [sentence, DETAILS[reason]?.(detail) ?? ""].join(" ").trim();
}

export const problems: ProblemWords = {
  ofUpstream,
  told: (code, message, values) => (values && VALUED[code]?.(values)) ?? SENTENCES[code] ?? (LEADS[code] === undefined ? message : `${LEADS[code]} Meldung des Servers: ${message}`),
};
