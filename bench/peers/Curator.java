// SPDX-License-Identifier: Apache-2.0
// Apache Curator: InterProcessMutex and LeaderLatch. The contract is in ../README.md.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class Curator {
    static final int MOST_GRANTS = 20000;
    static final Map<String, String> options = new HashMap<>();
    static final List<CuratorFramework> clients = new ArrayList<>();
    static final List<Lock> locks = new ArrayList<>();
    static ExecutorService threads;
    static volatile long until;
    static LeaderLatch latch;

    interface Lock {
        boolean tryAcquire() throws Exception;
        void acquire() throws Exception;
        void release() throws Exception;
    }

    static Lock lockOf(InterProcessMutex mutex) {
        return new Lock() {
            public boolean tryAcquire() throws Exception {
                return mutex.acquire(0, TimeUnit.SECONDS);
            }
            public void acquire() throws Exception {
                mutex.acquire();
            }
            public void release() throws Exception {
                mutex.release();
            }
        };
    }

    static Lock lockOf(InterProcessSemaphoreV2 semaphore) {
        return new Lock() {
            Lease lease;
            public boolean tryAcquire() throws Exception {
                lease = semaphore.acquire(0, TimeUnit.SECONDS);
                return lease != null;
            }
            public void acquire() throws Exception {
                lease = semaphore.acquire();
            }
            public void release() {
                semaphore.returnLease(lease);
            }
        };
    }

    // With a read-write lock, one in eight contenders is a writer.
    static Lock make(CuratorFramework client, String path, int number) {
        switch (options.getOrDefault("lock", "mutex")) {
        case "rw":
            InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
            return lockOf(number % 8 == 0 ? lock.writeLock() : lock.readLock());
        case "semaphore":
            return lockOf(new InterProcessSemaphoreV2(client, path, number("permits", 1)));
        default:
            return lockOf(new InterProcessMutex(client, path));
        }
    }

    static int number(String name, int otherwise) {
        return Integer.parseInt(options.getOrDefault(name, String.valueOf(otherwise)));
    }

    static CuratorFramework open() throws Exception {
        int ttl = number("ttl_ms", 10000);
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                options.get("servers"), ttl, 15000, new ExponentialBackoffRetry(100, 5));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    static void hold(long us) {
        long end = System.nanoTime() + us * 1000;
        while (us > 0 && System.nanoTime() < end) {
        }
    }

    // Runs a round of one contender. Returns the times asked, granted, released.
    static StringBuilder run(Lock lock, String work) throws Exception {
        StringBuilder grants = new StringBuilder();
        int count = 0;
        long released, holdUs = number("hold_us", 0);
        do {
            long asked = System.nanoTime();
            boolean got = work.equals("try") ? lock.tryAcquire() : acquire(lock);
            long granted = System.nanoTime();
            released = 0;
            if (got) {
                hold(holdUs);
                released = System.nanoTime();
                lock.release();
            }
            grants.append(count > 0 ? "," : "").append(asked).append(',').append(granted)
                    .append(',').append(released);
        } while (!work.equals("once") && System.nanoTime() < until && ++count < MOST_GRANTS);
        if (count == MOST_GRANTS) {
            synchronized (options) {
                until = Math.min(until, System.nanoTime());
            }
        }
        return grants;
    }

    static boolean acquire(Lock lock) throws Exception {
        lock.acquire();
        return true;
    }

    static String round(String work, double seconds) throws Exception {
        long from = System.nanoTime();
        until = from + (long) (seconds * 1e9);
        List<Future<StringBuilder>> all = new ArrayList<>();
        for (Lock lock : locks) {
            all.add(threads.submit((Callable<StringBuilder>) () -> run(lock, work)));
        }
        StringBuilder text = new StringBuilder();
        for (Future<StringBuilder> each : all) {
            text.append(text.length() > 0 ? "," : "").append('[').append(each.get()).append(']');
        }
        long to = work.equals("once") ? System.nanoTime() : until;
        return "{\"from\":" + from + ",\"to\":" + to + ",\"grants\":[" + text + "]}";
    }

    static String obey(String[] words) throws Exception {
        long now;
        switch (words[0]) {
        case "hold":
            locks.get(0).acquire();
            return "{\"at\":" + System.nanoTime() + "}";
        case "release":
            now = System.nanoTime();
            locks.get(0).release();
            return "{\"at\":" + now + "}";
        case "lead":
            latch = new LeaderLatch(clients.get(0), options.get("path"), "bench");
            latch.start();
            latch.await();
            return "{\"at\":" + System.nanoTime() + "}";
        case "resign":
            now = System.nanoTime();
            latch.close();
            return "{\"at\":" + now + "}";
        default:
            return round(words[0], words.length > 1 ? Double.parseDouble(words[1]) : 0);
        }
    }

    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            options.put(arg.substring(0, arg.indexOf('=')), arg.substring(arg.indexOf('=') + 1));
        }
        int each = number("threads", 1), count = number("sessions", 1) * each;
        threads = Executors.newFixedThreadPool(count);
        for (int i = 0; i < count; i++) {
            if (i % each == 0) {
                clients.add(open());
            }
            int at = number("first", 0) + i;
            String path = options.get("path") + "-" + at % number("locks", 1);
            locks.add(make(clients.get(i / each), path, at));
        }
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null;) {
            System.out.println(obey(line.split(" ")));
        }
        for (CuratorFramework client : clients) {
            client.close();
        }
        System.exit(0);
    }
}
