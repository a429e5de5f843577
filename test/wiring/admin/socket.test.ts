import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { version } from "../../../src/main/version.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { askDaemon } from "../../../src/wiring/admin/client.ts";
import type { AdminRequest } from "../../../src/wiring/admin/messages.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";

let mirror: RunningMirror;

beforeAll(async () => {
  mirror = await startMirror();
});
afterAll(() => mirror.stop());

describe("requests that no command of this version sends", () => {
  async function ask(request: object) {
    const asked = { version, request: request as AdminRequest };
    const said = { stdout: "", stderr: "" };
    const status = await askDaemon(layOutStore(mirror.directory), {
      ...{ ...asked, file: undefined, signal: AbortSignal.timeout(10_000) },
      stdout: (text) => Promise.resolve((said.stdout += text) !== ""),
      stderr: (text) => (said.stderr += text),
    });
    return { status, ...said };
  }

  it.each([
    ["list", { spec: 5 }, /^provender: spec: .* expected string, .* number/],
    ["list", { verbose: true }, /^provender: arguments: .* "verbose"/],
    ["explain", {}, /^provender: spec: .* expected string, .* undefined/],
    ["verify", { repair: "many" }, /^provender: repair: .* expected boolean/],
    ["prefetch", { spec: [], lockFile: [5], list: [] }, /: lockFile\.0: /],
    ["toString", {}, /^provender: toString: it is no verb: give one of audit/],
  ])("are refused with a sentence: %s %j", async (verb, input, sentence) => {
    const run = await ask({ verb, input, operator: "someone" });
    expect(run).toEqual({
      ...{ status: 2, stdout: "" },
      stderr: expect.stringMatching(sentence) as string,
    });
    expect(run.stderr).toMatch(/^.*\.\n$/);
    const { stdout } = await ask({
      ...{ verb: "status", input: { json: true }, operator: "someone" },
    });
    expect(JSON.parse(stdout)).toMatchObject({ alarms: [] });
  });

  it("are refused in another shape", async () => {
    await expect(ask({ verb: 5 })).rejects.toThrow(
      /refuses \(its request is in another shape\)/,
    );
  });
});
