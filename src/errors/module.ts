import { ProvenderError } from "./provender-error.ts";

/** A registry names a place for a module that no client should be sent to. */
export class ModuleSourceRefused extends ProvenderError {
  readonly code = "module-source-refused";
  constructor(module: string, reason: string, options?: ErrorOptions) {
    super(
      `The place that the registry names for ${module} is refused: ${reason}; tell its publisher.`,
      options,
    );
  }
}

/** A module's archive that could harm who unpacks it. */
export class ModuleArchiveRefused extends ProvenderError {
  readonly code = "module-archive-refused";
  readonly reason: string;
  constructor(module: string, reason: string, options?: ErrorOptions) {
    super(
      `The archive of ${module} is refused: ${reason}; nothing of it was kept, tell its publisher.`,
      options,
    );
    this.reason = reason;
  }
}

/** What the origin has now for a version is not what was seen first, and the first content is gone. */
export class ModuleReplaced extends ProvenderError {
  readonly code = "module-replaced";
  constructor(module: string, expected: string, got: string) {
    super(
      `${module} has other content now than was seen first and is refused: expected ${expected}, got ${got}; ask its publisher for a new version.`,
    );
  }
}
