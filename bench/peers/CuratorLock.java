// SPDX-License-Identifier: Apache-2.0
// CuratorLock SERVERS PATH COMMAND...: runs the command under a lock, as a short program with Curator does.
import java.util.Arrays;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorLock {
    public static void main(String[] args) throws Exception {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(args[0], new ExponentialBackoffRetry(100, 5));
        client.start();
        InterProcessMutex lock = new InterProcessMutex(client, args[1]);
        lock.acquire();
        int status = new ProcessBuilder(Arrays.asList(args).subList(2, args.length))
                .inheritIO().start().waitFor();
        lock.release();
        client.close();
        System.exit(status);
    }
}
