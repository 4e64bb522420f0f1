import type { ModelChoiceWords } from "../../en/models/model_choice";

export const modelChoice: ModelChoiceWords = {
  gone: (wanted) => `${wanted} ya no está disponible.`,
  failed: (wanted) => `No se pudo cargar ${wanted}.`,
  unloaded: (wanted) => `${wanted} no está cargado. Solo un administrador puede cargarlo.`,
  instead: (model) => `Responde ${model} en su lugar.`,
  nothingInstead: "No hay ningún otro modelo cargado.",
  willLoad: (wanted) => `${wanted} no está cargado. Al enviar un mensaje se carga primero.`,
  choose: "Elegir un modelo",
  models: "Abrir Modelos",

  unreachable: "No se puede conectar con el servidor",
  unreachableAbout: "Puede que se haya detenido o que este dispositivo no tenga conexión. Reintentando…",
  none: "No hay ningún modelo cargado",
  noneAbout: "Carga uno en la página Modelos y empieza a chatear.",
  noneForOthers: "Pide a un administrador que cargue uno.",
  starting: "El modelo se está iniciando",
  broken: "No se pudo iniciar el modelo",
};
