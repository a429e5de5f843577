import { describe, expect, it } from "vitest";
import { judgeKey } from "../../src/trust/key-verdict.ts";
import { rows } from "./key-rows.ts";
import { question } from "./releases.ts";

describe("the key of a release", () => {
  for (const [what, expected, offered, asked = {}] of rows)
    it(`${what}: ${expected}`, () => {
      const verdict = judgeKey(question(asked), offered);
      const alarm = verdict.accepted && verdict.alarms ? "!" : "";
      const said = verdict.accepted
        ? `${verdict.because}${alarm}`
        : `no: ${verdict.because}`;
      expect(said).toBe(expected);
    });
});
