import { describe, expect, it } from "vitest";
import { moduleAddress } from "../../../src/address/module-address.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import type { Listed } from "../../../src/mirror/trust/admission.ts";
import type { LeftOut } from "../../../src/mirror/trust/left-out.ts";
import { makeAdmission } from "../../scenes/admission-parts.ts";

const hostname = "registry.example.com";
const provider = providerAddress(hostname, "acme", "widget");
const other = providerAddress(hostname, "acme", "other");
const module = moduleAddress(hostname, "acme", "widget", "aws");
type Subject = Parameters<
  Awaited<ReturnType<typeof makeAdmission>>["admission"]["noteLeftOut"]
>[0];

const denied = (text: string): LeftOut => ({
  version: parseVersion(text),
  kind: "denied",
  cause: "a rule",
});
const words = (text: string) =>
  `1 denied; This mirror leaves out, denied: ${text} (a rule)`;

/** An index that leaves these versions out, or has them though the policy would not. */
const listed = (leftOut: string, reported = ""): Listed => ({
  leftOut: leftOut === "" ? [] : [denied(leftOut)],
  reported: reported === "" ? [] : [denied(reported)],
});

/** Notes one index after another and returns the audit lines. */
async function note(...listings: readonly (readonly [Subject, Listed])[]) {
  const trust = await makeAdmission();
  for (const [subject, index] of listings)
    trust.admission.noteLeftOut(subject, index);
  await trust.close();
  const lines = (["requests", "decisions"] as const).flatMap(trust.read);
  return lines.map(({ event, verdict, provider, module, detail }) => {
    return [event, verdict, provider ?? module, detail];
  });
}

const name = `${hostname}/acme/widget`;

describe("what an index leaves out", () => {
  it("is written down with its subject, by what is refused and what is reported", async () => {
    const index = listed("1.0.0", "2.0.0");
    expect(await note([{ provider }, index])).toEqual([
      ["left-out", "refused", name, words("1.0.0")],
      ["left-out", "reported", name, words("2.0.0")],
    ]);
    expect(await note([{ module }, index])).toEqual([
      ["left-out", "refused", `${name}/aws`, words("1.0.0")],
      ["left-out", "reported", `${name}/aws`, words("2.0.0")],
    ]);
  });

  it("is not written down where it is nothing", async () => {
    expect(await note([{ provider }, listed("")])).toEqual([]);
    const reported = [["left-out", "reported", name, words("1.0.0")]];
    expect(await note([{ provider }, listed("", "1.0.0")])).toEqual(reported);
  });

  it.each<readonly [string, readonly string[], readonly string[]]>([
    ["the same again", ["1.0.0", "1.0.0"], ["1.0.0"]],
    ["another one", ["1.0.0", "2.0.0"], ["1.0.0", "2.0.0"]],
    ["nothing, and then the same", ["1.0.0", "", "1.0.0"], ["1.0.0", "1.0.0"]],
  ])(
    "is written down once for each change: %s",
    async (_, indexes, expected) => {
      const lines = await note(
        ...indexes.map((text) => [{ provider }, listed(text)] as const),
      );
      expect(lines.map((line) => line.at(-1))).toEqual(expected.map(words));
    },
  );

  it("is written down once for one index, also where it is answered after a later one", async () => {
    const [before, after] = [listed("1.0.0"), listed("2.0.0")];
    const indexes = [before, after, before, after];
    const lines = await note(
      ...indexes.map((index) => [{ provider }, index] as const),
    );
    expect(lines.map((line) => line.at(-1))).toEqual([
      words("1.0.0"),
      words("2.0.0"),
    ]);
  });

  it("is written down for each provider by itself", async () => {
    const lines = await note(
      [{ provider }, listed("1.0.0")],
      [{ provider: other }, listed("1.0.0")],
      [{ provider }, listed("1.0.0")],
    );
    expect(lines).toHaveLength(2);
  });
});
