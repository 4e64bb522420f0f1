import { admin } from "./admin";
import { beside } from "./beside";
import { blocks } from "./blocks";
import { composer } from "./composer";
import { models } from "./models";
import { offers } from "./offers";
import { palette } from "./palette";
import { problems } from "./problems";
import { settings } from "./settings";
import { shelving } from "./shelving";
import { shell } from "./shell";
import { sidebar } from "./sidebar";
import { thread } from "./thread";
import { voice } from "./voice";
import { voiceButtons } from "./voice_buttons";
import { welcome } from "./welcome";
import type { Catalogue } from "../catalogue";

export const german: Catalogue = { palette, problems, shell, shelving, sidebar, composer, offers, thread, beside, welcome, blocks, settings, models, admin, voice, voiceButtons };
