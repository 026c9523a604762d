/** What tells a client of Git to ask for credentials: `WWW-Authenticate`. */
export const CHALLENGE = 'Basic realm="Lemnos"';
