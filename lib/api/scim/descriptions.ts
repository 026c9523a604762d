/** Discovery documents of the service (RFC 7643, 5 to 8): capabilities, resource types and schemas. */
import { USER } from './shapes.ts';

const PROVIDER = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

/** Maximum number of users on one page. */
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
      description: 'SCIM token of the group, sent as `Authorization: Bearer`',
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
  description: 'A user that the identity provider provisions to the group',
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
  overrides: Partial<Attribute> = {},
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
  ...overrides,
});

/** The attributes of a user. Requests that deviate from this schema may still be accepted. */
const ATTRIBUTES: readonly Attribute[] = [
  attribute(
    'externalId',
    'string',
    'Identifier of the user at the identity provider; also the id of the resource',
    {
      required: true,
      caseExact: true,
      // A change would change the id of the resource.
      mutability: 'immutable',
      uniqueness: 'server',
    },
  ),
  attribute(
    'userName',
    'string',
    'Name that the user signs in with; the username of the account is derived from it',
    {
      required: true,
      uniqueness: 'server',
    },
  ),
  attribute('name', 'complex', 'Name of the user', {
    required: true,
    subAttributes: [
      attribute('formatted', 'string', 'Full name', { required: true }),
      attribute('givenName', 'string', 'Given name'),
      attribute('familyName', 'string', 'Family name'),
    ],
  }),
  attribute('displayName', 'string', 'Display name; also used as the full name if none is given'),
  attribute('active', 'boolean', 'Whether the user is a member of the group', { required: true }),
  attribute('emails', 'complex', 'Email addresses; only the work address is stored', {
    multiValued: true,
    required: true,
    subAttributes: [
      attribute('value', 'string', 'Email address', { required: true }),
      attribute('type', 'string', 'Type of the address; only `work` is stored', {
        canonicalValues: ['work'],
      }),
      attribute('primary', 'boolean', 'Whether this is the primary address; true for the stored one'),
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
