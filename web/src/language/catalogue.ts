// All texts of the page. A language with a missing text does not compile.
import type { AdminWords } from "./en/admin";
import type { BesideWords } from "./en/beside";
import type { BlocksWords } from "./en/blocks";
import type { ComposerWords } from "./en/composer";
import type { ModelsWords } from "./en/models";
import type { OffersWords } from "./en/offers";
import type { PaletteWords } from "./en/palette";
import type { ProblemWords } from "./en/problems";
import type { SettingsWords } from "./en/settings";
import type { ShelvingWords } from "./en/shelving";
import type { ShellWords } from "./en/shell";
import type { SidebarWords } from "./en/sidebar";
import type { ThreadWords } from "./en/thread";
import type { VoiceWords } from "./en/voice";
import type { VoiceButtonsWords } from "./en/voice_buttons";
import type { WelcomeWords } from "./en/welcome";

export interface Catalogue {
  readonly shell: ShellWords;
  readonly sidebar: SidebarWords;
  readonly shelving: ShelvingWords;
  readonly composer: ComposerWords;
  readonly offers: OffersWords;
  readonly thread: ThreadWords;
  readonly beside: BesideWords;
  readonly welcome: WelcomeWords;
  readonly blocks: BlocksWords;
  readonly problems: ProblemWords;
  readonly palette: PaletteWords;
  readonly settings: SettingsWords;
  readonly models: ModelsWords;
  readonly admin: AdminWords;
  readonly voice: VoiceWords;
  readonly voiceButtons: VoiceButtonsWords;
}
