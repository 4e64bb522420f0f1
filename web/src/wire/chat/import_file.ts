// Imports a file of conversations: exports of Duologue and of other chat programs.
import type { ImportReport } from "./conversations";
import { postFile, type SendFile } from "../transport/upload";

export const importFile: SendFile<ImportReport> = (file, progress) =>
  postFile(`api/import?name=${encodeURIComponent(file.name)}`, file, "application/octet-stream", progress);
