import { z } from "zod";

/** Characters of a request; the lists and lock files of a command are a part of it. */
export const largestRequest = 32 * 1024 * 1024;

/** Characters of a line of output. */
export const largestOutput = 64 * 1024 * 1024;

/** Milliseconds between two signs of life of a daemon at work. */
export const beat = 1_000;

/** Milliseconds without a byte after which the other side is given up. */
export const silence = 10_000;

/** First line of the daemon. */
export const greeting = z.union([
  z.object({ provender: z.string(), nonce: z.uuid() }),
  z.object({ refused: z.string() }),
]);

/** First line of a command. */
export const request = z.object({
  verb: z.string(),
  input: z.looseObject({}),
  /** Login name of the operator, for those who may name themselves. */
  operator: z.string().max(256),
  /** Columns of the terminal at standard error; without one, progress is plain lines. */
  columns: z.int().positive().max(10_000).optional(),
});

export type AdminRequest = z.infer<typeof request>;

/** A line of the daemon while the verb runs; an empty one is a sign of life. */
export const output = z.union([
  z.object({ stdout: z.string() }),
  z.object({ stderr: z.string() }),
  z.object({ status: z.int() }),
  z.strictObject({}),
]);
