import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { filesAtFault, remediesFor, REMEDIES_OF, type Situation } from "../../../src/chat/reply/remedies";

const FILE: Situation = { unsent: true, hasFiles: true, hasOtherModels: true };

/** Codes that cannot meet a message: those of calls, logins, keys, imports, tool servers, downloads, other APIs and the terminal. */
const ELSEWHERE =
  /^(ray_lost|join_.*|worker_(key|key_needed|apart|too_old|too_new)|too_many_workers|no_voice|session_unknown|already_joined|admin_key_first|key_(revoked|ambiguous)|restart_(running|failed)|worker_retiring|response_not_.*|response_in_progress|responses_full|background_full|(conversation|item|template|lora|reply|file|batch)_not_found|lora_unusable|file_in_use|batch_ended|too_many_batches|avatar_.*|landmarks_.*|too_many_avatars|video_(unavailable|busy|too_slow)|clip_.*|clips_full|voice_(not_found|lost|consent_missing|not_yours|sample_.*)|unknown_tool_format|forbidden|admin_needed|key_needed|last_admin.*|configured_.*|name_taken|too_many_(keys|downloads|servers|uploads|voices)|upload_.*|host_refused|origin_refused|user_not_found|(app|preset|worker|replica|node)_not_found|model_loaded|download_.*|method_not_allowed|request_line_too_long|headers_too_large|invalid_(json|http)|https_needed|too_slow|call_(running|unknown|idle|too_long)|session_.*|ticket_not_found|batch_taken_over|approval_closed|conversation_deleted|http_error|no_sound_card|unknown_folder|cycle|has_children|broken_tree|not_editable|run_ended|nothing_to_fold|nothing_(said|recorded)|title_unusable|too_many|import_.*|no_thumbnail|range_not_satisfiable|bad_.*|not_a_page|fetch_failed|unknown_host|private_address|tool_server_.*|no_login|login_over|start_failed|interpreter_unusable|address_refused|file_name_refused|hub_.*|model_too_large|model_exists|checksum_mismatch|disk_full|write_failed|imported|remembered_.*|upstream_.*(not_found|exists)|too_many_upstreams|upstream_(name|key|address).*|pack_.*|pictures_busy|recordings?_(not_found|running|forbidden|unavailable|full)|archive_.*|upstream_(incompatible|empty|in_settings)|run_interrupted|gateway_silent)$/;

function documentedCodes(): string[] {
  const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, code]) => code!));
}

describe("what can be done about an error", () => {
  it("is known for every documented code that can meet a message", () => {
    const unknown = documentedCodes().filter((code) => !(code in REMEDIES_OF) && !ELSEWHERE.test(code));
    expect(unknown).toEqual([]);
  });

  it("is removing the file where the file is at fault, and never trying the same again", () => {
    expect(remediesFor("document_unreadable", FILE)).toEqual(["remove-file", "edit"]);
    expect(remediesFor("document_without_text", FILE)).toEqual(["remove-file", "choose-model", "edit"]);
    expect(remediesFor("file_unsupported", { ...FILE, hasFiles: false })).toEqual(["edit"]);
  });

  it("is another model where the model is, if there is one", () => {
    expect(remediesFor("model_not_found", { ...FILE, unsent: false })).toEqual(["choose-model"]);
    expect(remediesFor("model_not_found", { unsent: false, hasFiles: false, hasOtherModels: false })).toEqual([]);
  });

  it("is trying again where that can help", () => {
    expect(remediesFor("queue_full", { ...FILE, unsent: false })).toEqual(["retry"]);
    expect(remediesFor("a_code_of_tomorrow", { ...FILE, unsent: false })).toEqual(["retry"]);
  });

  it("concerns the files that the server names, else all", () => {
    const files = [{ name: "a.pdf" }, { name: "b.bin" }];
    expect(filesAtFault(files, "b.bin: a file of this kind cannot be given to a model.")).toEqual([{ name: "b.bin" }]);
    expect(filesAtFault(files, "Something else.")).toEqual(files);
  });
});
