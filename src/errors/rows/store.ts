import { row } from "../row.ts";

const damaged = "The stored archive is damaged, try again";

/** The storage directory and the address to listen on. */
export const storeErrors = {
  "store-in-use": row(["holder", "directory"], {
    sentence: "{holder} works on the storage directory {directory}",
    remedy: `wait until it ended or stop it, or set another "storage.directory"`,
  }),
  "daemon-silent": row(["directory", "silence"], {
    sentence: "The daemon that works on {directory} was silent for {silence}",
    remedy: "look at its log, and restart it where it hangs",
  }),
  "daemon-lost": row(["directory"], {
    sentence:
      "The daemon that works on {directory} ended before this command did",
    remedy: "look at its log, and run the command again",
  }),
  "daemon-refused": row(["directory", "reason"], {
    sentence: "The daemon that works on {directory} refuses ({reason})",
    remedy: "run the command again later",
  }),
  "daemon-version": row(["directory", "there", "here"], {
    sentence:
      "The daemon that works on {directory} is provender {there}, and this is provender {here}",
    remedy: "restart the daemon, or run the command by its version",
  }),
  "store-too-new": row(["directory", "found", "known"], {
    sentence:
      "The storage directory {directory} is of version {found}, and this provender knows stores up to version {known}",
    remedy: `run the provender that wrote it or a newer one, or set another "storage.directory"`,
  }),
  "store-version-unreadable": row(["file", "known"], {
    sentence: "{file} does not say of which version the store is",
    remedy: ({ known }) =>
      `restore it from a backup, or write {"version":${known}} into it if no newer provender worked on the store`,
  }),
  "store-unusable": row(["directory", "reason"], {
    sentence: "The storage directory {directory} cannot be used ({reason})",
    remedy: `make it a directory that can be written, or set another "storage.directory"`,
  }),
  /** The owner could not use what this process would write. */
  "store-owned-by-another": row(["directory", "owner", "user"], {
    sentence:
      "The storage directory {directory} belongs to the user {owner}, and this is the user {user}",
    remedy:
      "run the command as that user or as root; beside a daemon, also as one of the group of its socket",
  }),
  /** Stored content is still served. */
  "store-full": row(["subject", "reason", "remedy"], {
    status: 503,
    phrase: "The mirror's store is full",
    sentence: "The mirror cannot store {subject} ({reason})",
    remedy: "{remedy}",
  }),
  /** A damaged record: pinned checksums or decisions are unknown. */
  "record-unreadable": row(["file", "problem", "remedy"], {
    status: 503,
    phrase: "What the mirror saw first of this cannot be read",
    sentence:
      "The record {file} cannot be used ({problem}), and what depends on it is refused",
    remedy: "{remedy}",
  }),
  "stored-archive-unreadable": row(["sha256", "problem"], {
    status: 503,
    phrase: damaged,
    sentence:
      "The stored archive {sha256} cannot be read ({problem}) and is fetched again when it is asked for",
    remedy: "check the disk",
  }),
  "stored-archive-damaged": row(["sha256", "problem"], {
    status: 503,
    phrase: damaged,
    sentence: "The stored archive {sha256} is damaged ({problem})",
    remedy: `check the disk, and run "provender verify --repair", so that it is fetched again`,
  }),
  listen: row(["address", "reason"], {
    sentence: "Cannot listen on {address} ({reason})",
    remedy: `stop what uses it, or change "listen.host" or "listen.port"`,
  }),
};
