import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { mayPass } from '../lib/api/git/authorize.ts';
import { deps } from './deps.ts';

/**
 * A REST API's proxy integration renames `WWW-Authenticate`, so only the gateway's own UNAUTHORIZED response can carry
 * a challenge. The authorizer decides which requests get it; the Git function responds to all others.
 */
export const handler = async (
  event: APIGatewayRequestAuthorizerEvent,
): Promise<APIGatewayAuthorizerResult> => {
  // Exactly this text makes the gateway respond with 401.
  if (!(await mayPass(event, deps()))) throw new Error('Unauthorized');
  const Resource = event.methodArn;
  return {
    principalId: 'git',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource }],
    },
  };
};
