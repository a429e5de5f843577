import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const unit = fileURLToPath(
  new URL("../systemd/provender.service", import.meta.url),
);
const canAnalyze = analyze("--version").status === 0;

function analyze(...args: readonly string[]) {
  return spawnSync("systemd-analyze", args, { encoding: "utf8" });
}

describe.skipIf(!canAnalyze)(
  canAnalyze
    ? "systemd/provender.service"
    : "systemd/provender.service (NOT CHECKED: systemd-analyze is not installed)",
  () => {
    it("is understood by systemd without a warning", () => {
      const verified = analyze("verify", "--man=no", unit);
      expect(verified.stdout + verified.stderr).toBe("");
      expect(verified.status).toBe(0);
    });

    it("exposes the machine to at most 2.0 of 10", () => {
      const args = ["security", "--offline=true", "--no-pager", unit];
      const { stdout } = analyze(...args);
      const [, score] =
        /Overall exposure level for \S+: ([0-9.]+)/.exec(stdout) ?? [];
      expect(Number(score)).toBeGreaterThan(0);
      expect(Number(score)).toBeLessThanOrEqual(2);
    });
  },
);
