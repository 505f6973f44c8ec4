#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# apply.pl COPY MUTANT...: edits the files of the copy as each mutant says.
# apply.pl -n COPY [MUTANT...]: only says which do not fit.
# apply.pl --tell [MUTANT...]: a line for each, with tabs between: its name, its test, what it does, the words of the
# chaos run, its proof, the files that it edits.
# apply.pl --faults [MUTANT...]: the table of docs/faults.md, of those with a line "# found".
#
# MUTANT is a name, or FILE.mutants for all of a file. Without any, all are meant.
#
# FILE.mutants, beside this script: the licence, then mutants, with a blank line between. Each is a line "== name"; a
# line "# what it does"; "# by TEST" when another test than sim.search is meant to see it; "# chaos WORDS" when the
# chaos run shall, too, by violations that match WORDS, an extended regular expression; "# proof WHERE" when it dies in
# ../proof; "# found HOW: FAULT" when it restores a fault that the project once had; then edits, each "@@ FILE", "<<<<", the text as it is, "====", as it shall be, ">>>>". The text must be
# there exactly once, with whatever line breaks and blanks.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Glob ':bsd_glob';

sub fail {
    print STDERR "mutants: @_\n";
    exit 64;
}

sub read_file {
    my ($path, $name) = @_;
    open(my $in, '<', $path) or die "$name: $!\n";
    local $/;
    return <$in>;
}

my $lines = qr/(?:(?!(?:<<<<|====|>>>>)\n).*\n)*/;
my $edit = qr/@@ (\S+)\n<<<<\n($lines)====\n($lines)>>>>\n/;
my %mutants;

sub parse {
    my ($file) = @_;
    my $text = read_file($file, $file);
    my $mutant;
    $file = basename($file);
    $text =~ /\G# SPDX-.*\n/gc;
    while ($text =~ /\G\n*(?=.)/gcs) {
        if ($text =~ /\G== (\S+)\n# (?!(?:by|chaos|proof|found) )(.*)\n/gc) {
            fail("$1 is in $mutants{$1}{in} and in $file; a name is there once") if $mutants{$1};
            $mutant = $mutants{$1} = {in => $file, words => $2, edits => []};
        } elsif ($mutant && $text =~ /\G# (by|chaos|proof) (.*)\n/gc) {
            $mutant->{$1} = $2;
        } elsif ($mutant && $text =~ /\G# found (\w+): (.+)\n/gc) {
            @$mutant{qw(found fault)} = ($1, $2);
        } elsif ($mutant && $text =~ /\G$edit/gc) {
            my ($path, $old, $new) = ($1, $2, $3);
            chomp($old, $new);
            push @{$mutant->{edits}}, [$path, $old, $new];
        } else {
            my $line = 1 + (substr($text, 0, pos $text) =~ tr/\n//);
            fail("$file:$line: no part of a mutant, or not all of it");
        }
    }
}

# The names that are meant by the arguments.
sub chosen {
    return sort keys %mutants if !@_;
    return map {
        my $which = $_;
        my @names = grep { $_ eq $which || $mutants{$_}{in} eq basename($which) } sort keys %mutants;
        @names ? @names : fail("there is no mutant $which; ./run mutants --list names them");
    } @_;
}

# Matches $old however the formatter breaks its lines.
sub pattern {
    my $pattern = join('\s*', map { quotemeta } $_[0] =~ /\w+|[^\w\s]/g);
    return qr/$pattern/;
}

# The files of the copy that it edits, with what they contain then.
sub edited {
    my ($copy, $mutant) = @_;
    my %code;
    for (@{$mutant->{edits}}) {
        my ($file, $old, $new) = @$_;
        $code{$file} //= read_file("$copy/$file", $file);
        my $pattern = pattern($old);
        my $count = () = $code{$file} =~ /$pattern/g;
        die "its text is $count times in $file\n" if $count != 1;
        $code{$file} =~ s/$pattern/$new/;
    }
    die "no edits in it\n" if !%code;
    return %code;
}

sub tell_of {
    my ($name) = @_;
    my $mutant = $mutants{$name};
    my %files = map { $_->[0] => 1 } @{$mutant->{edits}};
    print join("\t", $name, $mutant->{by} // 'sim.search', $mutant->{words}, $mutant->{chaos} // '',
        $mutant->{proof} // '', join(' ', sort keys %files)), "\n";
}

sub row_of {
    my ($name) = @_;
    my $mutant = $mutants{$name};
    my @seen = map { "`$_`" } split(' ', $mutant->{by} // 'sim.search');
    push @seen, '`./run chaos`' if $mutant->{chaos};
    push @seen, '`./run proof`' if $mutant->{proof};
    return "| $mutant->{fault} | $mutant->{found} | " . join(', ', @seen) . " | `$name` |\n";
}

my $mode = @ARGV && $ARGV[0] =~ /^-/ ? shift @ARGV : '';
my $copy = $mode =~ /^--/ ? '' : shift @ARGV;
fail('usage: apply.pl COPY MUTANT... | -n COPY [MUTANT...] | --tell [MUTANT...] | --faults [MUTANT...]')
    if $mode !~ /^(-n|--tell|--faults|)$/ || !defined $copy || ($mode eq '' && !@ARGV);
parse($_) for bsd_glob(dirname(__FILE__) . '/*.mutants');

if ($mode eq '--faults') {
    print "| fault | found by | detected today by | mutant |\n|---|---|---|---|\n";
    print map { row_of($_) } sort { $mutants{$a}{found} cmp $mutants{$b}{found} } grep { $mutants{$_}{found} }
        chosen(@ARGV);
    exit;
}
my $failed = 0;
for my $name (chosen(@ARGV)) {
    if ($mode eq '--tell') {
        tell_of($name);
        next;
    }
    my %code = eval { edited($copy, $mutants{$name}) };
    if ($@) {
        print STDERR "$name: $@";
        $failed = 1;
        next;
    }
    for my $file ($mode eq '-n' ? () : sort keys %code) {
        open(my $out, '>', "$copy/$file") or die "$file: $!\n";
        print $out $code{$file};
        close($out) or die "$file: $!\n";
    }
}
exit $failed;
