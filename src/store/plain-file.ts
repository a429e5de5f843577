import { constants } from "node:fs";

/**
 * Flags for reading a path that may be a link or a pipe by now: a link is not
 * followed, a pipe not waited for.
 */
export const plainFileFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
