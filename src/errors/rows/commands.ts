import { row } from "../row.ts";

/** A place is FILE, FILE:LINE, a variable or an argument. */
const misplaced = row(["where", "problem", "remedy"], {
  sentence: "{where}: {problem}",
  remedy: ({ remedy }) => remedy,
});

/** Errors of command-line arguments and inputs. */
export const commandErrors = {
  input: misplaced,
  /** Time or memory ran out; nothing else of the command is read then. */
  "hostile-input": row(["file"], {
    sentence: "{file} takes more time or memory to parse than any honest file",
    remedy: "look what is in it and who wrote it, or split it",
  }),
  arguments: misplaced,
  configuration: misplaced,
  "no-authority": row(["file"], {
    sentence: "{file} is not a CA that can be read",
    remedy:
      "start the daemon, which makes one, or give the daemon's configuration with --config",
  }),
  /** The daemon would read or write there with its own rights. */
  "not-its-user": row(["verb", "operator"], {
    sentence:
      "{verb} names files and directories, and the daemon uses none that {operator} names",
    remedy: "run it as the daemon's own user, such as by sudo -u provender",
  }),
  "nothing-asked": row(["command", "ways"], {
    sentence: "There is nothing to {command}",
    remedy: "give {ways}",
  }),
  "nothing-held": row(["spec"], {
    sentence:
      "No archive of {spec} is stored, so that there is nothing to forget",
    remedy: `see in "provender list" what is`,
  }),
  /** There are versions, and none of them is among those that were asked for. */
  "no-version": row(["subject", "asked", "where"], {
    sentence: "No version of {subject} matches {asked} ({where})",
    remedy: "change the constraint, or ask which versions the mirror allows",
  }),
  /** A verified package is not one of those that a dependency lock file lists. */
  "lock-mismatch": row(["archive", "where", "listed", "computed"], {
    sentence: ({ archive, where, listed, computed }) =>
      `${archive} is not what ${where} locks (it lists ${listed.join(", ")}; the publisher's package has ${computed.join(", ")})`,
    remedy: `if only this platform is missing, run "provender lock", otherwise find out why the package changed`,
  }),
  "lock-outdated": row(["where", "provider", "locked", "asked"], {
    sentence:
      "{where}: {provider} is locked at {locked}, but the configuration asks for {asked}",
    remedy: `run "init -upgrade" of your client`,
  }),
};
