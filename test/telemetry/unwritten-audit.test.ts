import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signer, TrustScene } from "../scenes/trust-scene.ts";

it("refuses with 503 what the audit log cannot take, and answers once it can", async () => {
  const scene = await TrustScene.start();
  const folder = join(scene.mirror.directory, "audit");
  const log = join(folder, "decisions.jsonl");
  rmSync(log, { force: true });
  mkdirSync(log, { recursive: true });
  await scene.publish("acme", "1.0.0", await signer("Known"));
  const refused = await scene.ask("acme").version("1.0.0");
  expect(refused.status).toBe(503);
  expect(refused.headers["retry-after"]).toBeDefined();
  expect(refused.json()).toMatchObject({
    code: "store-full",
    errors: [
      expect.stringMatching(
        /cannot store a line of the audit log \(EISDIR: .*\): look at the mirror's disk/,
      ),
    ],
  });
  expect(refused.body.toString()).not.toContain(folder);
  rmSync(log, { recursive: true });
  expect(await scene.ask("acme").outcome("1.0.0")).toBe("200");
  expect(scene.auditOf("acme", "first-seen")).toHaveLength(1);
});
