#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# apply.pl [-n] COPY MUTANT...: edits the files of the copy as each mutant says; run.sh has the format. -n: only says
# which do not fit.
use strict;
use warnings;

my $dry = @ARGV && $ARGV[0] eq '-n' && shift @ARGV;
my $copy = shift @ARGV;

sub read_file {
    my ($path, $name) = @_;
    open(my $in, '<', $path) or die "$name: $!\n";
    local $/;
    return <$in>;
}

# Matches $old however the formatter breaks its lines.
sub pattern {
    my $pattern = join('\s*', map { quotemeta } $_[0] =~ /\w+|[^\w\s]/g);
    return qr/$pattern/;
}

# The files that it edits, with what they contain then.
sub edited {
    my ($mutant) = @_;
    my $text = read_file($mutant, $mutant);
    my %code;
    while ($text =~ /^@@ (\S+)\n<<<<\n(.*?)\n====\n(.*?)\n?>>>>\n/msg) {
        my ($file, $old, $new) = ($1, $2, $3);
        $code{$file} //= read_file("$copy/$file", $file);
        my $pattern = pattern($old);
        my $count = () = $code{$file} =~ /$pattern/g;
        die "its text is $count times in $file\n" if $count != 1;
        $code{$file} =~ s/$pattern/$new/;
    }
    die "no edits in it\n" if !%code;
    return %code;
}

my $failed = 0;
for my $mutant (@ARGV) {
    my %code = eval { edited($mutant) };
    if ($@) {
        print STDERR "$mutant: $@";
        $failed = 1;
        next;
    }
    for my $file ($dry ? () : sort keys %code) {
        open(my $out, '>', "$copy/$file") or die "$file: $!\n";
        print $out $code{$file};
        close($out) or die "$file: $!\n";
    }
}
exit $failed;
