import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Registry } from "../test/fakes/registry.ts";
import type { Release } from "../test/fakes/release.ts";
import type { Installer, Source } from "./installer.ts";

export const hostname = "registry.terraform.io";
export const address = `${hostname}/acme/widget`;

/** Installer, the mirror that it uses, and the origin behind it. */
interface Installation {
  readonly registry: Registry;
  readonly installer: Installer;
  readonly mirror: Source;
}

let broken = 0;

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A promise of the mirror's, and whether it was kept. */
export function check(kept: boolean, text: string): void {
  if (!kept) broken += 1;
  say(`   ${kept ? "ok " : "NOT"} ${text}`);
}

/** One installation: how long it took, what the origin was asked, and what it was held to. */
export async function install(
  { registry, installer, mirror }: Installation,
  release: Release,
): Promise<void> {
  registry.requests.clear();
  const before = performance.now();
  const hashes = await installer
    .install(mirror, address, release.version)
    .catch((error: unknown) => {
      say(`   ${(error as Error).message}`);
      return [];
    });
  const ms = Math.round(performance.now() - before);
  const { h1, sha256 } = release.archive("linux_amd64");
  check(
    hashes.some((hash) => hash === h1 || hash === `zh:${sha256}`),
    `installed in ${ms} ms, held to ${hashes.join(" ")}`,
  );
  say(`       requests to the origin: ${describeRequests(registry)}`);
}

function describeRequests({ requests }: Registry): string {
  const counts = Map.groupBy(requests.list(), ({ kind }) => kind);
  const parts = [...counts].map(([kind, { length }]) => `${length} ${kind}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

/** Runs a demo in a folder that goes with it, and says whether everything was as promised. */
export async function perform(main: () => Promise<void>): Promise<void> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "provender-demo-"));
  // Root's PostgreSQL runs as another user, below it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  try {
    await main();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say(
      broken === 0
        ? `\nEverything was as promised, in ${seconds} s.`
        : `\n${broken} of the promises above were not kept.`,
    );
  } catch (error) {
    broken += 1;
    say(`\n${(error as Error).stack ?? String(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // What a failure left running ends with it.
  process.exit(broken === 0 ? 0 : 1);
}
