import { afterEach, describe, expect, it } from "vitest";
import { delayed, hang, onlyFor } from "../../fakes/faults.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import type { Answer } from "../../running-mirror.ts";
import { startWorld } from "../../scenes/world.ts";

const { registry, mirror } = await startWorld();

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

async function publish(type: string): Promise<void> {
  await registry.publish({ type, version: "1.0.0", size: 300_000 });
}

async function timed(
  type: string,
  document: string,
): Promise<{ readonly answer: Answer; readonly ms: number }> {
  const start = performance.now();
  const path = `/providers/registry.terraform.io/acme/${type}/${document}`;
  const answer = await mirror.get(path);
  return { answer, ms: performance.now() - start };
}

function archiveName(type: string): string {
  return `terraform-provider-${type}_1.0.0_linux_amd64.zip`;
}

describe("with the default limits, a mirror", () => {
  it("answers within 8 s while any of them hangs", async () => {
    const kinds: readonly RequestKind[] = [
      "versions",
      "package",
      "checksums",
      "signature",
      "archive",
    ];
    for (const kind of kinds) {
      await publish(kind);
      registry.script(kind, onlyFor(new RegExp(`/acme/${kind}/`), hang));
    }
    const asked = await Promise.all(
      kinds.map((kind) => timed(kind, archiveName(kind))),
    );
    for (const { answer, ms } of asked) {
      expect([answer.status, (answer.json() as { code: string }).code]).toEqual(
        [504, "origin-timeout"],
      );
      expect(ms).toBeLessThan(8_000);
    }
  });

  it("answers within 8 s when every document is a little late", async () => {
    await publish("late");
    for (const kind of ["versions", "package", "checksums"] as const)
      registry.script(kind, delayed(2_600));
    const { answer, ms } = await timed("late", "1.0.0.json");
    expect(answer.status).toBe(504);
    expect(ms).toBeLessThan(8_000);
  });

  it("answers within 8 s when the documents are late and the archive hangs", async () => {
    await publish("later");
    registry.script("checksums", delayed(5_000));
    registry.script("archive", hang);
    const { answer, ms } = await timed("later", archiveName("later"));
    expect(answer.status).toBe(504);
    expect(ms).toBeLessThan(8_000);
  });
});
