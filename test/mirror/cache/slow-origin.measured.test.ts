import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { delayed, hang, onlyFor } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import { originsOf } from "../../origins.ts";
import {
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";

let registry: Registry;
let mirror: RunningMirror;
let config: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  config = originsOf(authority, registry);
  mirror = await startMirror({ config });
});

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

afterAll(async () => {
  await registry.stop();
  await mirror.stop();
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
