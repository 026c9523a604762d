import { join } from 'node:path';
import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  GatewayVpcEndpointAwsService,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  Cluster,
  ContainerImage,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  SslPolicy,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { areas } from '../functions/areas.ts';
import { grantRights } from './grants.ts';
import type { Resources } from './resources.ts';
import { environmentOf } from './service-function.ts';
import type { Settings } from './settings.ts';

export interface FrontStackProps {
  readonly resources: Resources;
  readonly settings: Settings;
  /** The URL that pushes are redirected to. */
  readonly url: string;
  /** ARN of a certificate for that host, in this region. */
  readonly certificate: string;
}

const PORT = 8080;
/**
 * Idle timeout of the load balancer: a client sends nothing while it packs. The front keeps its connections open for longer
 * (`local/front.ts`), or the load balancer would answer 502 for a request that meets a closing connection.
 */
const IDLE = Duration.minutes(60);
/** The longest that a load balancer allows. It ends at once when no request is under way. */
const DRAIN = Duration.minutes(60);

/**
 * The Git front in a container behind a load balancer, for a stock `git push` of any size. Off by default: unlike
 * everything else it costs money while idle, about 64 $ a month (`docs/cost.md`).
 */
export class FrontStack extends Stack {
  constructor(scope: Construct, id: string, { resources, settings, url, certificate }: FrontStackProps) {
    super(scope, id, { description: 'Lemnos: source hosting without servers (Git front)' });
    // Public subnets without NAT, which would double the cost; table and bucket are reached within AWS.
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 24 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
      // The interfaces declare optional properties without `undefined`, but the classes with it.
    }) as IVpc;
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: 1024,
      memoryLimitMiB: 4096,
      ephemeralStorageGiB: 50,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    const git = areas.find(({ name }) => name === 'git')!;
    grantRights(task.taskRole, git.rights, resources);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    task.addContainer('Front', {
      // Whatever the machine is that builds it.
      image: ContainerImage.fromAsset(join(import.meta.dirname, '..'), { platform: Platform.LINUX_ARM64 }),
      environment: {
        ...environmentOf(git, resources, settings),
        BASE_URL: url,
        PORT: String(PORT),
        BEHIND_PROXY: '1',
      },
      portMappings: [{ containerPort: PORT }],
      logging: LogDrivers.awsLogs({ logGroup, streamPrefix: 'front' }),
      // Fargate's longest. By then the load balancer has drained the task: ECS stops it after that.
      stopTimeout: Duration.seconds(120),
    });
    const balancerGroup = new SecurityGroup(this, 'BalancerGroup', { vpc, description: 'Whoever pushes' });
    balancerGroup.addIngressRule(Peer.anyIpv4(), Port.tcp(443));
    const service = new FargateService(this, 'Service', {
      cluster: new Cluster(this, 'Cluster', { vpc }) as ICluster,
      taskDefinition: task,
      desiredCount: 1,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      healthCheckGracePeriod: Duration.minutes(3),
      assignPublicIp: true,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
    });
    const balancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: true,
      securityGroup: balancerGroup,
      idleTimeout: IDLE,
      dropInvalidHeaderFields: true,
    });
    balancer
      .addListener('Https', {
        port: 443,
        // The security group above decides who may connect.
        open: false,
        certificates: [Certificate.fromCertificateArn(this, 'Certificate', certificate)],
        sslPolicy: SslPolicy.RECOMMENDED_TLS,
      })
      .addTargets('Front', {
        port: PORT,
        protocol: ApplicationProtocol.HTTP,
        targets: [service],
        // A large pack keeps the one event loop busy for seconds: a front is replaced after five minutes of silence.
        healthCheck: {
          path: '/healthz',
          interval: Duration.seconds(60),
          timeout: Duration.seconds(30),
          unhealthyThresholdCount: 5,
          healthyThresholdCount: 2,
        },
        deregistrationDelay: DRAIN,
      });
    service.autoScaleTaskCount({ minCapacity: 1, maxCapacity: 4 }).scaleOnCpuUtilization('Cpu', {
      targetUtilizationPercent: 60,
    });
    new CfnOutput(this, 'BalancerName', {
      description: `Point ${new URL(url).hostname} here`,
      value: balancer.loadBalancerDnsName,
    });
  }
}
