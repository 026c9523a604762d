/** What the service tells of itself (RFC 7643, 5 to 8): what it can, what it keeps, and how that is called. */
import { USER } from './shapes.ts';

const PROVIDER = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

/** People on one page at most. */
export const MAX_COUNT = 100;

export const serviceProvider = (base: string) => ({
  schemas: [PROVIDER],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_COUNT },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'The token of the group, as `Authorization: Bearer`',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

export const userType = (base: string) => ({
  schemas: [TYPE],
  id: 'User',
  name: 'User',
  endpoint: '/Users',
  description: 'A person whom the identity provider lets into the group',
  schema: USER,
  schemaExtensions: [],
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/User` },
});

interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex';
  readonly description: string;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable';
  readonly returned: 'default' | 'always';
  readonly uniqueness: 'none' | 'server';
  readonly subAttributes?: readonly Attribute[];
  readonly canonicalValues?: readonly string[];
}

const attribute = (
  name: string,
  type: Attribute['type'],
  description: string,
  more: Partial<Attribute> = {},
): Attribute => ({
  name,
  type,
  description,
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});

/** Whoever keeps to this is understood; who sends less, or changes what is not to change, may be too. */
const ATTRIBUTES: readonly Attribute[] = [
  attribute('externalId', 'string', 'What the provider calls the person; the id here too', {
    required: true,
    caseExact: true,
    // The id would change with it.
    mutability: 'immutable',
    uniqueness: 'server',
  }),
  attribute('userName', 'string', 'What the person signs in with; the username follows from it', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('name', 'complex', 'What the person is called', {
    required: true,
    subAttributes: [
      attribute('formatted', 'string', 'The full name', { required: true }),
      attribute('givenName', 'string', 'First name'),
      attribute('familyName', 'string', 'Last name'),
    ],
  }),
  attribute('displayName', 'string', 'Stands for the full name where none is given, too'),
  attribute('active', 'boolean', 'Whether the person is let into the group', { required: true }),
  attribute('emails', 'complex', 'The address of work', {
    multiValued: true,
    required: true,
    subAttributes: [
      attribute('value', 'string', 'The address', { required: true }),
      attribute('type', 'string', 'Only `work` is kept', { canonicalValues: ['work'] }),
      attribute('primary', 'boolean', 'Chooses among several; of the one that is kept, true'),
    ],
  }),
];

export const userSchema = (base: string) => ({
  schemas: [SCHEMA],
  id: USER,
  name: 'User',
  description: 'User account',
  attributes: ATTRIBUTES,
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${USER}` },
});
