import type { Alarms } from "../telemetry/alarms.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { CertificateSource } from "./tls/certificate-source.ts";
import { formatMirrorUrl } from "./web/client-instructions.ts";
import type { SetUpPage } from "./web/set-up-page.ts";
import { Listener, type Handle, type ListenerLimits } from "./http/listener.ts";
import type { Readiness } from "./web/operations.ts";
import type { ServiceNotification } from "./service-notification.ts";

interface DaemonParts {
  readonly app: Handle;
  readonly setUp: SetUpPage;
  readonly listen: { readonly host: string; readonly port: number };
  readonly limits: ListenerLimits & { readonly stop: number };
  readonly hostnames: readonly string[];
  readonly machineName: string;
  readonly certificates: CertificateSource;
  readonly readiness: Readiness;
  readonly notification: ServiceNotification;
  /** Looks after the store, in the background: at the start and once an hour. */
  readonly tend: () => Promise<void>;
  readonly logger: Logger;
  readonly alarms: Alarms;
  readonly metrics: Metrics;
  /**
   * Reads the configuration again and applies what can change while serving; returns the changed keys that wait for a
   * restart.
   */
  readonly reload: () => readonly string[];
  /** Tells commands of this machine where it listens; never rejects. */
  readonly announce: (url: string) => Promise<void>;
  /** Releases what requests work with: caches, store, telemetry. */
  readonly close: () => Promise<void>;
}

interface Started {
  readonly url: string;
  readonly clients: string;
}

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** `provender serve` from listening to its end. */
export class Daemon {
  readonly #parts: DaemonParts;
  #listener: Listener | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #tending: NodeJS.Timeout | undefined;

  constructor(parts: DaemonParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when requests are answered, with messages for the clients'
   * operators. When it throws, everything is released.
   */
  async start(): Promise<Started> {
    try {
      return await this.#listen();
    } catch (error) {
      await this.#parts.close();
      throw error;
    }
  }

  async #listen(): Promise<Started> {
    const { app, limits, listen, machineName, hostnames } = this.#parts;
    const { setUp, readiness, notification, logger } = this.#parts;
    const tls = await this.#loadCertificate();
    this.#listener = new Listener(app, tls, limits, (error, where) =>
      this.alarm(error, where),
    );
    const port = await this.#listener.listen(listen.host, listen.port);
    const secure = tls !== undefined;
    const url = formatMirrorUrl({ ...listen, port, secure }, machineName);
    const clients = setUp.announce(url, tls?.caFile);
    await this.#parts.announce(url);
    readiness.state = "serving";
    this.#renewal = setInterval(() => void this.#reloadCertificate(), day);
    this.#tending = setInterval(() => void this.#tend(), hour);
    void this.#tend();
    void notification.ready(`Serving on ${url}`);
    logger.info({ url, hostnames }, "serving");
    return { url, clients };
  }

  /** SIGHUP: policy, trust and the certificate; what is wrong leaves the old in place. */
  async reload(): Promise<void> {
    const { notification, metrics, logger } = this.#parts;
    await notification.reloading();
    let status = "Serving";
    try {
      const waiting = this.#parts.reload();
      metrics.reloaded.set(1);
      logger.info("policy and trust loaded");
      if (waiting.length > 0)
        logger.warn(
          { keys: waiting },
          "these changed keys take effect at the next start",
        );
    } catch (error) {
      const { message } = error as Error;
      metrics.reloaded.set(0);
      logger.error({ error: message }, "the configuration in use is kept");
      status = `Serving with the old configuration: ${message}`;
    }
    await this.#reloadCertificate();
    await notification.ready(status);
  }

  async #loadCertificate() {
    const tls = await this.#parts.certificates(new Date());
    // NaN without TLS of the mirror's own.
    const expires = tls?.expires.getTime() ?? NaN;
    this.#parts.metrics.certificateExpiry.set(expires / 1000);
    return tls;
  }

  /** Also once a day, for renewal; the old one stays when that fails. */
  async #reloadCertificate(): Promise<void> {
    const { logger } = this.#parts;
    try {
      const tls = await this.#loadCertificate();
      if (tls !== undefined) this.#listener?.replaceCertificate(tls);
      logger.info({ expires: tls?.expires }, "certificate loaded");
    } catch (error) {
      logger.error({ err: error }, "the certificate in use is kept");
    }
  }

  async #tend(): Promise<void> {
    const { tend, logger } = this.#parts;
    await tend().catch((error: unknown) =>
      logger.warn({ err: error }, "the store could not be counted"),
    );
  }

  /** Something happened that no code foresaw; `where` is what it ended. */
  alarm(error: unknown, where: string): void {
    this.#parts.alarms.raise("unexpected-error", { where, err: error });
  }

  get grace(): number {
    return this.#parts.limits.stop;
  }

  /** Not ready at once; answers under way have `limits.stop` to finish, the rest is cut. */
  async stop(): Promise<void> {
    const { readiness, notification, limits, logger } = this.#parts;
    readiness.state = "stopping";
    clearInterval(this.#renewal);
    clearInterval(this.#tending);
    await notification.stopping();
    logger.info("stopping");
    await this.#listener?.close(limits.stop);
    await this.#parts.close();
    logger.info("stopped");
  }
}
