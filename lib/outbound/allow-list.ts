import { type Address, type AddressRange, inRange, parseRange, unmapped } from './address.ts';

/** What may be called although it is not on the public internet. */
export interface AllowList {
  /** Whether this address may be connected to under this name. */
  permits(host: string, address: Address, port: number): boolean;
  /** Whether a name or address is mentioned at all, for those who judge before anything is resolved. */
  names(host: string, port: number): boolean;
}

interface Entry {
  readonly host: string | undefined;
  readonly range: AddressRange | undefined;
  readonly port: number | undefined;
}

/**
 * `git.example.internal, 10.1.0.0/16, 127.0.0.1:8080, [::1]:8080`: names, addresses and ranges of them, each with a
 * port or for all ports. A name is allowed at whatever address it has.
 * @throws RangeError when an entry is none of these
 */
export function parseAllowList(text: string): AllowList {
  const entries = text
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .map(parseEntry);
  const onPort = (port: number) => (entry: Entry) => entry.port === undefined || entry.port === port;
  return {
    permits: (host, address, port) =>
      entries
        .filter(onPort(port))
        .some(
          ({ host: name, range }) =>
            name === host || (range !== undefined && inRange(unmapped(address), range)),
        ),
    names: (host, port) => entries.filter(onPort(port)).some(({ host: name }) => name === host),
  };
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

function parseEntry(entry: string): Entry {
  const whole = parseRange(entry);
  if (whole !== undefined) return { host: undefined, range: whole, port: undefined };
  const [, bracketed, bare, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const name = bracketed ?? bare;
  const port = digits === undefined ? undefined : Number(digits);
  if (name !== undefined && (port === undefined || (port > 0 && port < 65_536))) {
    const range = parseRange(name);
    if (range !== undefined) return { host: undefined, range, port };
    if (bare !== undefined && NAME.test(bare) && !/^[\d.]+$/.test(bare))
      return { host: bare, range: undefined, port };
  }
  throw new RangeError(
    `"${entry}" in the list of allowed addresses is no name, address or range, with or without a port`,
  );
}
