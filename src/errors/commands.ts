import { ProvenderError } from "./provender-error.ts";

/** A file that a command was given is not what it should be; `where` is FILE or FILE:LINE. */
export class InputInvalid extends ProvenderError {
  readonly code = "input";
  readonly where: string;
  constructor(where: string, problem: string, options?: ErrorOptions) {
    super(`${where}: ${problem}`, options);
    this.where = where;
  }
}

/** A command was called with arguments that mean nothing, or nothing together. */
export class ArgumentsInvalid extends ProvenderError {
  readonly code = "arguments";
  constructor(which: string, problem: string) {
    super(`${which}: ${problem}`);
  }
}

/** There is no CA of this mirror's own, or what is there is none. */
export class AuthorityMissing extends ProvenderError {
  readonly code = "no-authority";
  constructor(file: string, options?: ErrorOptions) {
    super(
      `${file} is not a CA that can be read: start the daemon, which makes one, or give the daemon's configuration with --config.`,
      options,
    );
  }
}

/** A command was called without anything to work on. */
export class NothingAsked extends ProvenderError {
  readonly code = "nothing-asked";
  constructor(command: string, ways: string) {
    super(`There is nothing to ${command}: give ${ways}.`);
  }
}

/** Archives are to be forgotten, and none of them is stored. */
export class NothingHeld extends ProvenderError {
  readonly code = "nothing-held";
  constructor(spec: string) {
    super(
      `No archive of ${spec} is stored, so that there is nothing to forget: "provender list" says what is.`,
    );
  }
}

/** A provider or module has versions, and none of them is among those that were asked for. */
export class NoVersionMatches extends ProvenderError {
  readonly code = "no-version";
  readonly subject: string;
  constructor(subject: string, asked: string, where: string) {
    super(
      `No version of ${subject} matches ${asked} (${where}): change the constraint, or ask which versions the mirror allows.`,
    );
    this.subject = subject;
  }
}

/** A verified package is not one of those that a dependency lock file lists. */
export class LockMismatch extends ProvenderError {
  readonly code = "lock-mismatch";
  readonly listed: readonly string[];
  readonly found: readonly string[];
  constructor(
    archive: string,
    where: string,
    listed: readonly string[],
    found: readonly string[],
  ) {
    super(
      `${archive} is not what ${where} locks: it lists ${listed.join(", ")}; the publisher's package has ${found.join(", ")}; if only this platform is missing, run "provender lock", otherwise find out why the package changed.`,
    );
    this.listed = listed;
    this.found = found;
  }
}

/** What a configuration requires is not what its lock file has. */
export class LockOutdated extends ProvenderError {
  readonly code = "lock-outdated";
  constructor(where: string, provider: string, locked: string, asked: string) {
    super(
      `${where}: ${provider} is locked at ${locked}, but the configuration asks for ${asked}: run "init -upgrade" of your client.`,
    );
  }
}
