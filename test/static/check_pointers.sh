#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_pointers.sh ROOT: checks that each file that a text names exists, and each test that a README names. Texts are
# Markdown, manual pages, and the comments of sources, scripts and build files. A name may omit its first folders, and
# contain NAME or * for a part. A path in lib/ or include/ must exist even if it is a folder, and even in the code of
# scripts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

# shellcheck disable=SC2016 # the dollars are for perl
bash -c '. "$1/../../tools/files.sh" && files "*"' bash "$here" | perl -we '
    use strict;
    # Files of ZooKeeper, and files that the reader has or creates.
    my %known = map { $_ => 1 } qw(zookeeper.c zookeeper.h zookeeper_version.h app.c bench.json);
    chomp(my @files = <STDIN>);
    my ($failed, $tests, %folders, %path) = (0, "");
    for my $file (@files) {
        $tests .= read_file($file) if $file =~ /CMakeLists\.txt$/;
        $folders{$1} = 1 if $file =~ m,^test/(\w+)/,;
        $path{$`} = 1 while $file =~ m,/,g;
        my $name = $file;
        do { $known{$name} = 1 } while $name =~ s,^[^/]*/,,;
    }

    sub read_file {
        my ($file) = @_;
        open my $in, "<", $file or die "$file: $!\n";
        local $/;
        return <$in> // "";
    }

    # Keeps the comments, and the ends of all lines.
    sub comments_of_c {
        my ($text) = @_;
        my $comment = qr,/\*.*?\*/|//[^\n]*,s;
        my $quoted = qr,"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])+\x27,;
        $text =~ s/($comment)|$quoted|([^\n])/$1 \/\/ ""/ge;
        return $text;
    }

    sub exists_somewhere {
        my ($name) = @_;
        return 1 if $known{$name};
        return 0 if $name !~ s/NAME|\*/*/g;
        my $pattern = join "[^/]*", map { quotemeta } split /\*/, $name, -1;
        return scalar grep { /^$pattern$/ } keys %known;
    }

    sub leads_nowhere {
        my ($text, $where) = @_;
        while ($text =~ m,(?<![\w/.}*<@+-])((?:lib|include)/[\w./*-]*[\w*]),g) {
            my $name = $1;
            next if $path{$name} || exists_somewhere($name) || $name =~ m,^lib/(?:systemd|cmake)\b,;
            my $pattern = join ".*", map { quotemeta } split /NAME|\*/, $name, -1;
            next if grep { /^$pattern$/ } @files, keys %path;
            print "$where: $name is not in this tree\n";
            $failed = 1;
        }
    }

    my $makes_trees = qr,^test/static/(?:selftest|check_\w+)\.sh$|^test/install/,;
    my $ending = qr/(?:c|h|cpp|hpp|sh|pl|py|go|java|bsh|cmake|md|txt)/;
    for my $file (@files) {
        my $in_c = $file =~ /\.(?:c|h|cpp|hpp)$/;
        my $in_script = $file =~ /\.(?:sh|py|pl|cmake)$|CMakeLists\.txt$|^run$/;
        next if !$in_c && !$in_script && $file !~ /\.md$|\.[1-9](?:\.in)?$/;
        my $line = 0;
        for (split /\n/, $in_c ? comments_of_c(read_file($file)) : read_file($file)) {
            $line++;
            leads_nowhere($_, "$file:$line") if !($in_script && $file =~ $makes_trees);
            next if $in_script && !s/^(?:.*?\s)?(?=#)//;
            while (m,(?<![\w/.*<-])((?:[\w.*-]+/)*[\w*-]+\.$ending)(?![\w/]|\.\w),g) {
                my $name = $1 =~ s,^(?:\.\.?/)+,,r;
                next if exists_somewhere($name);
                print "$file:$line: $name is no file of this tree\n";
                $failed = 1;
            }
            while ($file =~ /\.md$/ && /`((\w+)\.(\w+))`/g) {
                next if !$folders{$2} || $known{$1} || -e "test/$2/test_$3.c" || $tests =~ /\b$3\b/;
                print "$file:$line: $1 is no test\n";
                $failed = 1;
            }
        }
    }
    exit $failed'
