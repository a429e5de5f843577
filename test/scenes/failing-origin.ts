import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { expect } from "vitest";
import * as faults from "../fakes/faults.ts";
import type { Fault } from "../fakes/faults.ts";
import { startRegistry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { blobOf, startMirror, type Answer } from "../running-mirror.ts";
import { awaitHit } from "./log-lines.ts";
import { startOrigin } from "./world.ts";

/** The token of the origin, and what is signed into its URLs. */
export const secret = "not-for-anybody-else";

export type Question = "index" | "version" | "archive";

/** Scripted registry, a mirror in front of it that remembers no list, and a server that nobody is to ask. */
export async function startFailingOrigin() {
  const { authority, registry } = await startOrigin();
  const canary = await startRegistry({ authority });
  const mirror = await startMirror({
    config: {
      ...originsOf(authority, registry, { token: { env: "ORIGIN_TOKEN" } }),
      freshness: { versions: "0" },
      limits: { archive: "10MiB" },
    },
    // Small, so that tests are fast, but long enough for a machine that is busy.
    limits: { firstByte: 2_000, answer: 3_000 },
    env: { ORIGIN_TOKEN: secret },
  });
  const ask = (release: Release, question: Question) =>
    mirror.get(pathOf(release, question));
  // Code that runs for the first time may take longer than this answer may.
  const warm = await registry.publish({ type: "warm", version: "1.0.0" });
  await awaitHit(mirror, pathOf(warm, "archive"));
  registry.requests.clear();
  let names = 0;
  return {
    registry,
    mirror,
    canary,
    ask,
    /** Publishes a release that no client has requested, so that it is unknown. */
    publish: (size = 300_000): Promise<Release> => {
      const type = `demo${(names += 1)}`;
      return registry.publish({ type, version: "1.0.0", size });
    },
    expectHealed: async (release: Release, question: Question) => {
      registry.heal();
      expectRight(await ask(release, question), release, question);
    },
    isStored: (release: Release) =>
      existsSync(blobOf(mirror, sha256Of(release))),
  };
}

function pathOf({ type }: Release, question: Question): string {
  const document = {
    index: "index.json",
    version: "1.0.0.json",
    archive: `terraform-provider-${type}_1.0.0_linux_amd64.zip`,
  }[question];
  return `/providers/registry.terraform.io/acme/${type}/${document}`;
}

/** The contract's error body and headers, and nothing of what was secret. */
export function expectRefusal(
  answer: Answer,
  status: number,
  code: string,
): void {
  expect([answer.status, answer.json()]).toEqual([
    status,
    {
      errors: [expect.stringMatching(/^[^\n]+\.$/) as string],
      remedy: expect.stringMatching(/^[a-z]/) as string,
      code,
      requestId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    },
  ]);
  expect(answer.complete).toBe(true);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.body.toString()).not.toMatch(/\?|not-for-anybody-else/);
  const retryAfter = Number(answer.headers["retry-after"]);
  if (status > 500) expect([1, 2, 3, 4, 5]).toContain(retryAfter);
  else expect(answer.headers["retry-after"]).toBeUndefined();
}

function expectRight(
  answer: Answer,
  release: Release,
  question: Question,
): void {
  expect([answer.status, answer.complete]).toEqual([200, true]);
  if (question === "index")
    expect(answer.json()).toEqual({ versions: { "1.0.0": {} } });
  if (question === "version")
    expect(answer.body.toString()).toContain(`zh:${sha256Of(release)}`);
  if (question === "archive")
    expect(digest(answer.body)).toBe(sha256Of(release));
}

export function sha256Of(release: Release): string {
  return release.archive("linux_amd64").sha256;
}

export function digest(bytes: Uint8Array): string {
  return hash("sha256", bytes);
}

/** Every URL in a package document carries a signature, as those of object stores do. */
export const signedUrls: Fault = faults.json((document) => ({
  ...document,
  download_url: `${String(document.download_url)}?signature=${secret}`,
  shasums_url: `${String(document.shasums_url)}?signature=${secret}`,
}));
