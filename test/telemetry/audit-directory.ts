import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { AuditEntry } from "../../src/telemetry/audit-entry.ts";
import {
  AuditLines,
  type AuditLinesSettings,
} from "../../src/telemetry/audit-log.ts";

export const durable = { durable: true };
export const at = new Date("2026-11-21T10:00:00.000Z");

/** A folder for the audit logs of one test. */
export class AuditDirectory {
  readonly folder: string;
  readonly path: string;
  readonly lost: { readonly entries: number; readonly cause: Error }[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, "audit.jsonl");
  }

  static async create(): Promise<AuditDirectory> {
    return new AuditDirectory(await mkdtemp(join(tmpdir(), "audit-log-")));
  }

  open(settings: Partial<AuditLinesSettings> = {}): AuditLines {
    return new AuditLines({
      path: this.path,
      now: () => at,
      onLost: (entries, cause) => this.lost.push({ entries, cause }),
      ...settings,
    });
  }

  async readLines(file = this.path): Promise<string[]> {
    const text = await readFile(file, "utf8");
    expect(text.endsWith("\n")).toBe(true);
    return text.slice(0, -1).split("\n");
  }

  /** The requestId of each line. */
  async readIds(file = this.path): Promise<number[]> {
    const lines = await this.readLines(file);
    return lines.map((line) =>
      Number((JSON.parse(line) as { requestId: string }).requestId),
    );
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

export function entry(requestId: number): AuditEntry {
  return { event: "served", verdict: "accepted", requestId: String(requestId) };
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
