import { ProvenderError } from "./provender-error.ts";

/** Another daemon works on the storage directory. */
export class StoreInUse extends ProvenderError {
  readonly code = "store-in-use";
  constructor(directory: string) {
    super(
      `Another provender serves from ${directory}: stop it, or set another "storage.directory".`,
    );
  }
}

/** A newer program wrote the store, and what it means is not known here. */
export class StoreTooNew extends ProvenderError {
  readonly code = "store-too-new";
  readonly found: number;
  readonly known: number;
  constructor(directory: string, found: number, known: number) {
    super(
      `The storage directory ${directory} is of version ${found}, and this provender knows stores up to version ${known}: run the provender that wrote it or a newer one, or set another "storage.directory".`,
    );
    this.found = found;
    this.known = known;
  }
}

/** The file that says of which version a store is says something else. */
export class StoreVersionUnreadable extends ProvenderError {
  readonly code = "store-version-unreadable";
  readonly file: string;
  constructor(file: string, known: number, options?: ErrorOptions) {
    super(
      `${file} does not say of which version the store is: restore it from a backup, or write {"version":${known}} into it if no newer provender worked on the store.`,
      options,
    );
    this.file = file;
  }
}

/** The storage directory cannot be created, read or written. */
export class StoreUnusable extends ProvenderError {
  readonly code = "store-unusable";
  constructor(directory: string, reason: string, options?: ErrorOptions) {
    super(
      `The storage directory ${directory} cannot be used (${reason}): make it a directory that can be written, or set another "storage.directory".`,
      options,
    );
  }
}

/** The store belongs to another user, who could not use what this process would write. */
export class StoreOwnedByAnother extends ProvenderError {
  readonly code = "store-owned-by-another";
  constructor(
    directory: string,
    owner: number,
    user: number,
    options?: ErrorOptions,
  ) {
    super(
      `The storage directory ${directory} belongs to the user ${owner}, and this is the user ${user}: run the command as that user or as root.`,
      options,
    );
  }
}

/** A stored archive cannot be read to its end. */
export class StoredArchiveUnreadable extends ProvenderError {
  readonly code = "stored-archive-unreadable";
  readonly problem: string;
  constructor(sha256: string, problem: string) {
    super(
      `The stored archive ${sha256} cannot be read (${problem}): it is fetched again when it is asked for; check the disk.`,
    );
    this.problem = problem;
  }
}

/** The configuration cannot be used; `where` is FILE:LINE or the variable. */
export class ConfigurationInvalid extends ProvenderError {
  readonly code = "configuration";
  constructor(where: string, problem: string, options?: ErrorOptions) {
    super(`${where}: ${problem}`, options);
  }
}

/** The address to listen on cannot be had. */
export class CannotListen extends ProvenderError {
  readonly code = "listen";
  constructor(address: string, reason: string, options?: ErrorOptions) {
    super(
      `Cannot listen on ${address} (${reason}): stop what uses it, or change "listen.host" or "listen.port".`,
      options,
    );
  }
}

/** The store takes nothing more now, be it full or failing; what is stored is still served. */
export class StoreFull extends ProvenderError {
  readonly code = "store-full";
  /** Such as "the archive". */
  readonly subject: string;
  readonly reason: string;
  /** What to do about it. */
  readonly cure: string;
  constructor(
    subject: string,
    reason: string,
    cure: string,
    options?: ErrorOptions,
  ) {
    super(`The mirror cannot store ${subject} (${reason}): ${cure}.`, options);
    this.subject = subject;
    this.reason = reason;
    this.cure = cure;
  }
}

/** A record of what was seen or decided cannot be believed, or is gone, so that what it says is unknown. */
export class RecordUnreadable extends ProvenderError {
  readonly code = "record-unreadable";
  /** Below the storage directory, where it should be. */
  readonly file: string;
  readonly problem: string;
  /** What an operator does about it. */
  readonly cure: string;
  constructor(
    file: string,
    problem: string,
    {
      place = "storage directory",
      cure = `look at the disk and at the file's owner and mode, then restore it from a backup`,
      ...options
    }: ErrorOptions & { readonly place?: string; readonly cure?: string } = {},
  ) {
    super(
      `The record ${file} in the ${place} cannot be believed (${problem}): what depends on it is refused until the mirror's operator cures it: ${cure}.`,
      options,
    );
    this.file = file;
    this.problem = problem;
    this.cure = cure;
  }
}
