import { constants } from "node:fs";

/** For reading what may be a link or a pipe by now: the first is not followed, the second not waited for. */
export const plainFileFlags =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
