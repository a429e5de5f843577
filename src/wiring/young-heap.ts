import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8's space for new objects as small as it is now. It would grow by
 * tens of MiB with every burst of clients, in this thread and in the others,
 * and never shrink below what the burst needed.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
