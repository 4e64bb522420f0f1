import type { UpstreamProblem } from "../../../wire/models/upstreams";
import type { ProblemWords } from "../../en/shell/problems";
import { modelSize } from "../../../ui/parts/byte_size";
import type { ProblemValues } from "../../../wire/transport/http";

/** Codes for which the server's sentence adds nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  admin_needed: "Solo los administradores pueden hacer esto.",
  app_disabled: "Un administrador ha desactivado esto en este servidor.",
  approval_closed: "Esta solicitud ya no está abierta.",
  busy: "El servidor está demasiado ocupado. Inténtalo de nuevo en un momento.",
  call_idle: "El servidor terminó la llamada porque nadie hablaba. Vuelve a llamar.",
  call_too_long: "La llamada alcanzó la duración máxima. Vuelve a llamar.",
  connection_lost: "Se perdió la conexión. Inténtalo de nuevo.",
  conversation_deleted: "Se eliminó el chat de esta llamada.",
  file_empty: "El archivo está vacío.",
  message_gone: "Este mensaje ya no existe.",
  nothing_said: "Aún no hay mensajes en este chat.",
  queue_full: "La cola del servidor está llena. Inténtalo de nuevo en unos minutos.",
  recording_forbidden: "Esta llamada no se puede grabar: la grabación está desactivada aquí, o el chat es temporal.",
  nothing_recorded: "Esta grabación no tiene sonido: se cortó justo al empezar.",
  recording_not_found: "Esta grabación ya no existe.",
  recording_running: "Esta grabación sigue en curso. Podrá reproducirse cuando termine.",
  recording_unavailable: "Este servidor no puede grabar: le falta un paquete.",
  recordings_full: "El espacio para grabaciones está lleno. Borra una primero.",
  reply_incomplete: "La respuesta se cortó. Inténtalo de nuevo.",
  run_ended: "Esta respuesta ya terminó. Envía el mensaje normalmente.",
  run_in_progress: "Hay una respuesta en curso. Detenla o espera a que termine.",
  server_stopping: "El servidor se está apagando. Inténtalo de nuevo en un momento.",
  too_many_upstreams: "No se pueden conectar más servidores. Quita uno primero.",
  too_many_voices: "No puedes tener más voces propias. Borra una primero.",
  upstream_exists: "Ya hay un servidor conectado con ese nombre.",
  upstream_key_needed: "La clave guardada solo vale para la dirección anterior. Introduce la de la nueva.",
  upstream_not_found: "Este servidor ya no está conectado.",
  timeout: "El modelo tardó demasiado. Inténtalo más tarde.",
  voice_consent_missing: "Una voz solo se guarda con el consentimiento de quien habla.",
  voice_lost: "La voz del servidor falla una y otra vez. La causa está en su registro.",
  avatar_not_found: "Esa cara no está aquí.",
  avatar_not_yours: "Solo puede cambiar esta cara la persona a la que pertenece.",
  avatar_consent_missing: "Una imagen solo se guarda con el consentimiento de la persona que aparece en ella.",
  avatar_unreadable: "El archivo está dañado o no es una imagen ni una figura VRM. Exporta la figura de nuevo, como VRM 0.x o 1.0.",
  avatar_too_small: "La imagen tiene muy pocos píxeles para una cara. Elige una más grande.",
  avatar_too_large: "La figura es demasiado grande: tiene demasiados triángulos o texturas demasiado grandes. Redúcela en el programa con el que se hizo.",
  avatar_refers_outside: "La figura remite a algo fuera de su archivo, que nunca se carga. Expórtala como un solo archivo VRM que lo contenga todo.",
  avatar_extension_unknown: "La figura usa una extensión que la página no puede dibujar. Expórtala sin comprimir mallas ni texturas.",
  avatar_without_head: "La figura no tiene hueso de la cabeza. Dale los huesos de VRM y expórtala de nuevo.",
  avatar_without_mouth: "La figura no puede abrir la boca: le falta la expresión «aa» (en VRM 0.x, «A»).",
  avatar_without_preview: "Esta figura no contiene ninguna miniatura.",
  landmarks_missing: "La cara de esta imagen aún no está marcada. Coloca sus puntos una vez en Ajustes > Voz.",
  landmarks_invalid: "Estos puntos no pueden ser los de una cara. Colócalos de nuevo.",
  too_many_avatars: "No puedes tener más caras propias. Borra una primero.",
  voice_not_yours: "Solo puede cambiar esta voz la persona a la que pertenece.",
  voice_sample_long: "La grabación dura más de 30 segundos.",
  voice_sample_short: "La grabación dura menos de un segundo. Van bien unos diez segundos de habla clara.",
  voice_sample_silent: "No se oye nada en la grabación. Comprueba el micrófono y habla un poco más alto.",
  voice_sample_text_missing: "Esta voz necesita saber qué se dice en la grabación. Escríbelo junto a la voz.",
  worker_lost: "El modelo se detuvo y se está reiniciando. Inténtalo de nuevo en un momento.",
  blob_not_found: "Este archivo ya no existe. Adjúntalo de nuevo.",
  call_running: "La llamada ya está en curso.",
  clip_too_long: "El clip duraría más de diez minutos. Haz varios con textos más cortos.",
  count_timeout: "El modelo está demasiado ocupado para calcular la longitud del chat. Inténtalo de nuevo en un momento.",
  device_lost: "La tarjeta gráfica ha fallado o el modelo ya no responde. Se está reiniciando; inténtalo de nuevo en un momento.",
  document_locked: "El PDF está protegido con contraseña. Quítala e inténtalo de nuevo.",
  file_breaks_reader: "El archivo está dañado o es demasiado complejo y no se puede leer.",
  file_too_complex: "El archivo es demasiado complejo: leerlo requiere demasiado tiempo o memoria.",
  files_busy: "El servidor está leyendo demasiados archivos. Inténtalo de nuevo en un momento.",
  has_children: "A este mensaje le siguen otros.",
  import_running: "Ya hay una importación en curso. Espera a que termine.",
  import_unknown: "El archivo no contiene chats en un formato conocido.",
  import_unreadable: "El archivo está dañado y no se puede importar.",
  last_admin: "No se puede desactivar ni degradar al último administrador.",
  load_running: "Ya se está cargando otro modelo. Espera a que termine.",
  login_over: "Este inicio de sesión ha terminado. Empieza de nuevo.",
  model_unloaded: "El modelo se ha descargado de la memoria. Elige otro o cárgalo de nuevo.",
  not_editable: "El resultado de una herramienta no se puede editar.",
  nothing_to_continue: "Esta respuesta ya está completa.",
  nothing_to_fold: "Aún hay muy poco texto para un resumen.",
  pack_in_use: "Este paquete de voces está en uso. Elige otro primero.",
  pack_running: "Ya se está instalando otro paquete de voces. Espera o cancélalo.",
  pictures_busy: "Se están cargando demasiadas imágenes. Inténtalo de nuevo en un momento.",
  too_many_pending: "Ya hay demasiados mensajes en espera.",
  too_many_temporary: "Hay demasiados chats temporales abiertos. Cierra uno primero.",
  too_many_uploads: "Hay demasiadas subidas en curso. Espera a que termine alguna.",
  unauthorized: "La clave falta o no es correcta. Inicia sesión de nuevo.",
  upload_not_found: "Esta subida se interrumpió. Adjunta el archivo de nuevo.",
  worker_restarted: "Un administrador ha reiniciado el modelo. Inténtalo de nuevo en un momento.",
};

/** Codes for which the server's sentence names the object or the cause and is appended. */
const LEADS: Readonly<Record<string, string>> = {
  bad_url: "Esta dirección no se puede usar aquí.",
  context_length_exceeded: "El chat es demasiado largo para el modelo.",
  disk_full: "No queda espacio en el disco del servidor.",
  document_too_long: "El documento es demasiado largo.",
  document_unreadable: "No se puede leer el documento.",
  document_without_text: "El documento no contiene texto.",
  engine_failed: "El modelo devolvió un error.",
  file_unsupported: "Ningún modelo admite este tipo de archivo.",
  internal_error: "Se produjo un error en el servidor.",
  key_needed: "Para esto hay que iniciar sesión con una clave.",
  modality_unsupported: "El modelo no admite uno de los archivos.",
  model_loading: "El modelo aún se está cargando. Inténtalo de nuevo en un momento.",
  model_not_found: "Ese modelo no está aquí.",
  private_address: "No se permite acceder a esta dirección desde aquí.",
  rate_limited: "Demasiados intentos.",
  sound_too_long: "La grabación es demasiado larga.",
  sound_unreadable: "No se puede leer la grabación.",
  video_too_large: "El vídeo es demasiado grande, 4K como máximo.",
  video_too_long: "El vídeo es demasiado largo.",
  video_unreadable: "No se puede leer el vídeo.",
  video_unsupported: "Este tipo de vídeo no se puede leer aquí.",
  video_without_pictures: "El vídeo no contiene imágenes.",
  storage_unavailable: "El servidor no puede guardar nada ahora mismo.",
  storage_full: "Tu almacenamiento en el servidor está lleno.",
  too_large: "Supera el tamaño que admite el servidor.",
  tool_server_error: "El servidor de herramientas devolvió un error.",
  tool_server_unavailable: "El servidor de herramientas no está disponible.",
  tool_server_unreachable: "No se puede conectar con el servidor de herramientas.",
  too_many_sockets: "Hay demasiadas conexiones abiertas.",
  too_much_in_flight: "Estás enviando demasiado a la vez.",
  unavailable: "No está disponible ahora mismo.",
  upstream_failed: "El servidor del modelo devolvió un error.",
  upstream_refused: "El servidor del modelo rechazó la solicitud.",
  upstream_unreachable: "No se puede conectar con el servidor del modelo.",
  voice_not_found: "Esa voz no está aquí.",
  voice_unavailable: "La voz del servidor no está disponible.",
  access_revoked: "Se revocó el acceso con el que se inició. Empieza de nuevo con una clave válida.",
  forbidden: "No tienes permiso para eso.",
  hub_busy: "El repositorio de modelos no admite más peticiones ahora.",
  hub_unreachable: "No se puede acceder al repositorio de modelos.",
  image_too_large: "La imagen es demasiado grande.",
  image_unreadable: "La imagen no se puede leer.",
  model_failed: "No se pudo cargar el modelo.",
  name_taken: "Este nombre ya está en uso.",
  not_enough_memory: "No hay suficiente memoria.",
  sound_unsupported: "Este tipo de audio no se puede leer aquí.",
  template_error: "El modelo no puede procesar estos mensajes.",
  unsupported: "Esto no se admite aquí.",
  video_unavailable: "Este servidor no puede generar vídeo.",
  write_failed: "No se puede escribir en esta carpeta del servidor.",
};

/** Sentences with the values of the problem, for problems that have them. */
const VALUED: Readonly<Record<string, (values: ProblemValues) => string>> = {
  disk_full: ({ needed, free, folder }) => {
    const download = Number(needed) > 0 ? `, y la descarga necesita ${size(needed)} y algo de margen` : "";
    return `En el disco de ${folder} solo quedan ${size(free)} libres${download}. Elimina un modelo o inicia el servidor con --data y otra carpeta.`;
  },
};

const size = (bytes: number | string | undefined): string => modelSize(Number(bytes));

/** What is wrong with a connected model server, by reason, or by code where there is no reason. */
const UPSTREAMS: Readonly<Record<string, string>> = {
  certificate: "Este equipo no confía en el certificado del servidor. Instala uno de confianza o usa http:// en tu propia red.",
  disconnected: "El servidor cortó la conexión. Comprueba que esté en marcha y consulta su registro.",
  error: "El servidor respondió con un error.",
  key_missing: "El servidor requiere una clave.",
  key_refused: "El servidor rechazó la clave. Introduce una válida.",
  no_answer: "El servidor no responde. Comprueba la dirección, que esté en marcha y que ningún firewall lo bloquee.",
  no_tls: "El servidor no usa TLS. Escribe http:// en lugar de https://.",
  no_words: "El servidor responde, pero el modelo no escribió nada. Prueba con otro.",
  not_a_model_server: "Algo responde ahí, pero no es un servidor compatible con OpenAI. Comprueba la dirección, también la ruta.",
  not_listening: "El servidor no acepta conexiones. Comprueba que esté en marcha y que escuche en ese puerto.",
  rate_limited: "El servidor no acepta más solicitudes por ahora. Espera o revisa tu plan allí.",
  redirected: "El servidor redirige a otra dirección. Si es correcta, introdúcela.",
  unknown_host: "No existe ese servidor. Comprueba que la dirección esté bien escrita.",
  private_address: "En esta dirección no hay un servidor de modelos: en una nube, ahí se guardan credenciales. Introduce otra.",
  upstream_empty: "El servidor no tiene ningún modelo para chats. Carga uno allí y vuelve a probar.",
  upstream_in_settings: "La configuración del servidor ya conecta esta dirección y tiene prioridad.",
  upstream_key_lost: "Ya no se puede leer la clave guardada. Introdúcela de nuevo.",
};

/** What the server's own words are called after these reasons; nothing is appended to the others. */
const DETAILS: Readonly<Record<string, (detail: string) => string>> = {
  certificate: (detail) => `(${detail})`,
  error: (detail) => `Dice: ${detail}`,
  key_missing: (detail) => `Dice: ${detail}`,
  key_refused: (detail) => `Dice: ${detail}`,
  rate_limited: (detail) => `Dice: ${detail}`,
  redirected: (detail) => `Indica: ${detail}`,
  no_words: (detail) => `(${detail})`,
};

function ofUpstream({ code, message, reason = "", detail = "" }: UpstreamProblem): string {
  const sentence = UPSTREAMS[reason] ?? UPSTREAMS[code];
  if (sentence === undefined) return problems.told(code, message);
  return detail === "" ? sentence : [sentence, DETAILS[reason]?.(detail) ?? ""].join(" ").trim();
}

export const problems: ProblemWords = {
  ofUpstream,
  told: (code, message, values) => (values && VALUED[code]?.(values)) ?? SENTENCES[code] ?? (LEADS[code] === undefined ? message : `${LEADS[code]} El servidor dice: ${message}`),
};
