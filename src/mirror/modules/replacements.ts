import { formatModuleAddress } from "../../address/module-address.ts";
import { ProvenderError } from "../../errors/index.ts";
import { classifyFileFailure } from "../../store/file-failure.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ModuleArchiveRecords } from "./records.ts";
import { formatModuleRelease, type ModuleReleaseAddress } from "./release.ts";

interface ReplacementParts {
  readonly records: ModuleArchiveRecords;
  readonly alarms: Alarms;
  readonly audit: AuditLog;
  readonly logger: Logger;
}

/** Tells that an origin offers other content for a module than it did at first: each other content once, however many ask for it. */
export class ModuleReplacements {
  readonly #parts: ReplacementParts;

  constructor(parts: ReplacementParts) {
    this.#parts = parts;
  }

  /** The decision is on disk when this resolves. A disk that takes nothing is told of, and changes nothing of what clients get. */
  async note(
    address: ModuleReleaseAddress,
    expected: string,
    got: string,
  ): Promise<void> {
    const { records, alarms } = this.#parts;
    const module = formatModuleRelease(address);
    const noted = records.noteOffered(address, got);
    if (!(await noted.catch((error: unknown) => this.#fail(module, error))))
      return;
    alarms.raise("module-replaced", { module, expected, got });
    await this.#record(address, expected, got).catch((error: unknown) =>
      this.#fail(module, error),
    );
  }

  #record(
    { module, version }: ModuleReleaseAddress,
    expected: string,
    got: string,
  ): Promise<void> {
    return this.#parts.audit.record(
      {
        event: "replaced",
        verdict: "refused",
        module: formatModuleAddress(module),
        version,
        rule: "first seen wins",
        detail: `${got}, and not ${expected}`,
      },
      { durable: true },
    );
  }

  /** Returns true, because it may be news. */
  #fail(module: string, error: unknown): true {
    const isExpected =
      error instanceof ProvenderError ||
      classifyFileFailure(error) !== undefined;
    if (!isExpected) throw error;
    const text = "that a module was replaced could not be written down";
    this.#parts.logger.error({ module, err: error }, text);
    return true;
  }
}
