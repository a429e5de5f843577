import { ProvenderError } from "./provender-error.ts";
import { nameProvider, type ProviderRelease } from "./provider-release.ts";
import { formatApproval, nameContent } from "./trust.ts";

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

/** A module is offered with other content than clients get of it, which is not stored. */
export class ModuleReplaced extends ProvenderError {
  readonly code = "module-replaced";
  constructor(release: ProviderRelease, expected: string, offered: string) {
    const name = `${nameProvider(release)} ${release.version}`;
    super(
      `${name} is offered with other content than clients get of it: expected ${nameContent(release, expected)}, got ${nameContent(release, offered)}; after checking with the publisher, the mirror's operator can run "${formatApproval(release, offered)}".`,
    );
  }
}
