import { once } from "node:events";
import { connect } from "node:net";
import { fail, good, type Check } from "./check.ts";

/** Whether the proxy of HTTPS_PROXY takes connections. */
export async function examineProxy(
  proxy: URL,
  signal: AbortSignal,
): Promise<Check> {
  const port = Number(proxy.port) || (proxy.protocol === "https:" ? 443 : 80);
  const socket = connect(port, proxy.hostname.replace(/^\[|\]$/g, ""));
  try {
    await once(socket, "connect", { signal });
    return good("proxy", `The proxy ${proxy.host} takes connections.`);
  } catch (error) {
    const { code = "no answer" } = error as NodeJS.ErrnoException;
    return fail(
      "proxy",
      `The proxy ${proxy.host} takes no connection (${code}).`,
      "Correct HTTPS_PROXY, or name in NO_PROXY what is asked without it.",
    );
  } finally {
    socket.destroy();
  }
}
