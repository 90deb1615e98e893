/** The HEALTHCHECK of the image: exits with 0 if /healthz answers 200 within four seconds. */
const { HOST = '0.0.0.0', PORT = '3000' } = process.env;
const everywhere = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
const host = everywhere[HOST] ?? (HOST.includes(':') ? `[${HOST}]` : HOST);
const response = await fetch(`http://${host}:${PORT}/healthz`, { signal: AbortSignal.timeout(4000) }).catch(() => null);
process.exit(response?.status === 200 ? 0 : 1);
