import { z } from "zod";

/** Characters of a request; the lists and lock files of a command are a part of it. */
export const largestRequest = 32 * 1024 * 1024;

/** Characters of a line of output. */
export const largestOutput = 64 * 1024 * 1024;

/** Milliseconds between two signs of life of a daemon at work. */
export const beat = 1_000;

/** Milliseconds without a byte after which the other side is given up. */
export const silence = 10_000;

/** Last line of the daemon to a command that it does not run. */
const refusal = z.object({ refused: z.string() });

/** First line of the daemon. */
export const greeting = z.union([
  z.object({ provender: z.string(), nonce: z.uuid() }),
  refusal,
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

/** Bytes of a file in one line. */
export const largestPiece = 1024 * 1024;

/** A question of the daemon about the file that the command names. */
const fileQuestion = z.union([
  z.object({ open: z.string() }),
  z.object({
    read: z.object({
      position: z.int().nonnegative(),
      length: z.int().positive(),
    }),
  }),
]);

export type FileQuestion = z.infer<typeof fileQuestion>;

/** Answers of a command; bytes in base64, the size null for something other than a file. */
const fileAnswer = z.union([
  z.object({ size: z.int().nullable() }),
  z.object({ bytes: z.string() }),
  z.object({ error: z.string() }),
]);

export type FileAnswer = z.infer<typeof fileAnswer>;

/** A line of a command behind its request. */
export const input = z.union([z.object({ stop: z.literal(true) }), fileAnswer]);

/** A line of the daemon while the verb runs; `alive` is a sign of life. */
export const output = z.union([
  fileQuestion,
  refusal,
  z.object({ stdout: z.string() }),
  z.object({ stderr: z.string() }),
  z.object({ status: z.int() }),
  z.object({ alive: z.literal(true) }),
]);
